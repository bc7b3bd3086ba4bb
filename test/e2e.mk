# Targets of the whole cluster; the Makefile at the top includes this.

# The programs that a lab consists of.
LAB_PROGRAMS = etcd kube-apiserver kube-controller-manager kube-scheduler kwok crossplane crossplane-cli \
	provider-kubernetes keda-operator keda-adapter nats-server crane

.PHONY: lab
lab: lab-programs xpkg ## a whole cluster on this machine, with the function installed, until Ctrl-C
	@mkdir -p .cache && go build -C test -o ../.cache/lab ./lab/cmd/lab
	@exec .cache/lab

.PHONY: demo
demo: lab-programs xpkg ## the same cluster, with a component to watch as it scales from zero and back
	@mkdir -p .cache && go build -C test -o ../.cache/demo ./lab/cmd/demo
	@exec .cache/demo

# -count=1: Go's test cache does not know the programs that the tests run.
# -parallel: the tests wait more than they work.
E2E = go test -C test -tags e2e -count=1 -parallel 16 -timeout 40m -v ./e2e -args

.PHONY: e2e
e2e: lab-programs xpkg ## the tests of the whole system on a cluster, for each of the two Configurations
	@echo "== e2e tests: claims"
	@$(E2E) -configuration=claim
	@echo "== e2e tests: namespaced composites"
	@$(E2E) -configuration=namespaced

.PHONY: lab-programs
lab-programs:
	@echo "== programs of the cluster"
	@tools/build $(LAB_PROGRAMS)

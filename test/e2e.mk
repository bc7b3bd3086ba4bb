# Targets of the whole cluster; the Makefile at the top includes this.

.PHONY: lab e2e demo

lab: tools xpkg ## A whole cluster on this machine, with the function installed, until Ctrl-C
	cd test && go run ./lab/cmd/lab

demo: tools xpkg ## The same cluster, with a component to watch scale from zero and back
	cd test && go run ./lab/cmd/demo

# -count=1: the programs that the tests run are not known to Go's test cache.
# -parallel: the tests wait more than they work.
E2E = cd test && go test -tags e2e -count=1 -parallel 16 -timeout 25m -v ./e2e -args

e2e: tools xpkg ## The tests of the whole system, for each of the two Configurations
	@echo "e2e: claims"
	$(E2E) -configuration=claim
	@echo "e2e: namespaced composites"
	$(E2E) -configuration=namespaced

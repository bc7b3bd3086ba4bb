# Targets that look harder than `make test` does, or measure. The Makefile at
# the top includes this.

.PHONY: bench fuzz properties supply-chain vulnerabilities licences sbom reproducible

# How long and how often bench measures, and how many rounds of what is measured
# in turn; how long fuzz looks for each target; how many components properties
# draws.
BENCHTIME ?= 2000x
ROUNDS ?= 40x
BENCHCOUNT ?= 6
FUZZTIME ?= 1m
CHECKS ?= 3000

# The binary as it goes into the image, and what it is made of.
BINARY_FLAGS := -trimpath -buildvcs=false -ldflags='-s -w -buildid='
BINARY_SOURCES := go.mod go.sum $(wildcard *.go) fn input nats

bench: ## the function beside what cannot be faster; see docs/performance.md
	@tools/build benchstat
	@mkdir -p _output
	@echo "== benchmarks"
	@measure() { go test -C test ./bench -run='^$$' -count=$(BENCHCOUNT) -timeout=60m "$$@" >> _output/bench.txt || { cat _output/bench.txt; exit 1; }; } && \
	rm -f _output/bench.txt && measure -bench=. -skip='Beside|Create' -benchtime=$(BENCHTIME) && \
	measure -bench=Beside -benchtime=$(ROUNDS) && measure -bench=Create -benchtime=16x
	@benchstat=$$(tools/build --path benchstat) && \
	$$benchstat -filter='.name:(RunFunction OR CannedResponse)' -row=/c -col='.name@(CannedResponse RunFunction)' _output/bench.txt && \
	$$benchstat -filter='.name:(Beside OR Create OR InProcess OR InProcessCopy OR RunFunctionJetStream OR CannedTwoRequests OR Size)' _output/bench.txt
	@echo "== the process"
	@cd test && go run ./bench/cmd/process

fuzz: ## look for input that breaks the function, a minute for each target
	@for target in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p' test/fuzz/*_test.go); do \
		echo "== $$target" && go test -C test ./fuzz -run='^$$' -fuzz="^$$target\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=20x || exit; done

properties: ## thousands of drawn components, against a real API server and a real nats-server
	@tools/build etcd kube-apiserver
	@echo "== properties"
	@go test -C test -tags=e2e -count=1 -timeout=60m -v ./properties ./policy -rapid.checks=$(CHECKS)

supply-chain: licences sbom reproducible vulnerabilities ## licences, SBOM, the same binary twice, known vulnerabilities

# Without the internet, GOVULNDB names a copy of the database.
vulnerabilities: ## known vulnerabilities in what the binary calls; asks vuln.go.dev
	@tools/build govulncheck
	@echo "== known vulnerabilities"
	@$$(tools/build --path govulncheck) .

# go-licenses takes everything for the standard library if it does not know
# where that is, finds nothing, and is content: so it is told, and the report
# must have lines.
licences: ## fail if a module in the binary has a licence that asks for more than a notice
	@tools/build go-licenses
	@mkdir -p _output
	@echo "== licences: _output/licences.csv"
	@export GOROOT="$$(go env GOROOT)" && licenses=$$(tools/build --path go-licenses) ours=--ignore=tmi.dev/function-tmicomponent && \
	$$licenses report . $$ours 2>/dev/null > _output/licences.csv && test -s _output/licences.csv && \
	$$licenses check . $$ours --allowed_licenses=Apache-2.0,BSD-2-Clause,BSD-3-Clause,ISC,MIT 2> _output/licences.log || { cat _output/licences.log; exit 1; }
	@cut -d, -f3 _output/licences.csv | sort | uniq -c

sbom: ## what is in the binary, as CycloneDX, into _output
	@tools/build cyclonedx-gomod
	@mkdir -p _output
	@CGO_ENABLED=0 go build $(BINARY_FLAGS) -o _output/function .
	@GOPROXY=off $$(tools/build --path cyclonedx-gomod) bin -json -licenses -version=$(VERSION) -output=_output/function.cdx.json _output/function \
		2> >(grep -v 'tmi.dev/function-tmicomponent@' >&2) # our own module is in no proxy
	@echo "== SBOM: _output/function.cdx.json"

# The second build has nothing of the first: neither its folder nor its cache.
reproducible: ## build the binary twice, the second time elsewhere and from nothing, and compare
	@echo "== reproducible"
	@dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && \
	mkdir $$dir/one && tar -c $(BINARY_SOURCES) | tar -x -C $$dir/one && cp -R $$dir/one $$dir/another && \
	CGO_ENABLED=0 go build -C $$dir/one $(BINARY_FLAGS) -o ../function-one . && \
	GOCACHE=$$dir/cache CGO_ENABLED=0 go build -C $$dir/another $(BINARY_FLAGS) -o ../function-another . && \
	cmp $$dir/function-one $$dir/function-another && echo "both builds are the same"

# `make render` shows what the function does; `make test` and `make e2e` are what
# CI runs.

.DEFAULT_GOAL := help
SHELL := /bin/bash
MAKEFLAGS += --no-print-directory

# Modules with Go code of ours. The others under tools/ only pin a program.
MODULES := . test tools/generate tools/xpkg
GO_FILES := main.go fn nats input test tools

# Variables that a person sets.
XR ?= example/component.yaml
API ?= claim
NATS ?= on
VERSION ?= v0.1.0
REGISTRY ?= xpkg.crossplane.io
GOTESTFLAGS ?=

.PHONY: help
help: ## list what there is to make
	@awk 'BEGIN {FS = ":.*## "} /^[a-z0-9-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "  make render XR=path            another component"
	@echo "  make render API=namespaced     as Crossplane v2's namespaced composite, not as a claim"
	@echo "  make render NATS=off           without NATS"
	@echo "  make xpkg VERSION=v1.2.3 REGISTRY=registry.example.com"

##
## What a person wants to see
##

# By environment, since a path can have a quote in it.
.PHONY: render
render: export XR := $(value XR)
render: export API := $(value API)
render: export NATS := $(value NATS)
render: ## render example/ with the real Crossplane, function and nats-server
	@mkdir -p .cache && go build -C test -o ../.cache/render ./render/cmd/render
	@exec .cache/render

##
## Building
##

.PHONY: build
build: ## build everything in every module
	@for m in $(MODULES); do echo "== build $$m"; go build -C $$m ./... || exit; done

.PHONY: generate
generate: ## make deepcopy code, CRD and XRDs from the Go types
	@echo "== generate"
	@go generate ./...

.PHONY: fmt
fmt: ## format the Go code
	@gofmt -w $(GO_FILES)

.PHONY: xpkg
xpkg: ## build the three packages, without Docker, into _output/xpkg
	@echo "== xpkg"
	@tools/build crossplane-cli
	@go run -C tools/xpkg . -root=../.. -out=../../_output/xpkg -version=$(VERSION) -registry=$(REGISTRY) \
		-crossplane="$$(tools/build --path crossplane-cli)"

.PHONY: tools
tools: ## build all pinned programs that are not yet built
	@echo "== tools"
	@tools/build all

.PHONY: clean
clean: ## remove what was made, pinned programs included
	@rm -rf .cache _output

##
## Checks, from the quickest to the slowest
##

.PHONY: test
test: fmt-check vet generate-check lint unit integration render-test ## all checks but those on a cluster
	@echo "== all good"

.PHONY: fmt-check
fmt-check:
	@echo "== formatting"
	@unformatted=$$(gofmt -l $(GO_FILES)) && \
	if [ -n "$$unformatted" ]; then echo "run make fmt for:" $$unformatted; exit 1; fi

.PHONY: vet
vet: ## go vet
	@for m in $(MODULES); do echo "== vet $$m"; go vet -C $$m -tags=e2e ./... || exit; done

.PHONY: generate-check
generate-check: ## fail if a generated file is stale
	@echo "== generated files are fresh"
	@go run -C tools/generate . -root=../.. -check

.PHONY: lint
lint: ## golangci-lint, pinned
	@tools/build golangci-lint
	@golangci=$$(tools/build --path golangci-lint) && config=$$PWD/.golangci.yml && \
	for m in $(MODULES); do \
		echo "== lint $$m"; (cd $$m && $$golangci run --allow-serial-runners --config=$$config ./...) || failed=1; \
	done; [ -z "$$failed" ]

# -count=1: Go's test cache knows no file outside a test's module, and no program
# that a test runs.

.PHONY: unit
unit: ## unit tests, with the race detector where there is concurrency
	@echo "== unit tests"
	@go test -race $(GOTESTFLAGS) ./...
	@for m in tools/generate tools/xpkg; do go test -C $$m -count=1 $(GOTESTFLAGS) ./... || exit; done

.PHONY: integration
integration: ## tests against a real nats-server and real schemas
	@echo "== integration tests"
	@# Those of nats first and alone: they are about time, too.
	@go test -C test -race -count=1 $(GOTESTFLAGS) ./jetstream
	@packages=$$(go list -C test ./... | grep -vE '/test/(jetstream|render)$$') && go test -C test -race -count=1 $(GOTESTFLAGS) $$packages

.PHONY: render-test
render-test: ## every case through the real Crossplane, against golden files
	@tools/build crossplane crossplane-cli nats-server
	@echo "== render tests"
	@go test -C test -count=1 $(GOTESTFLAGS) ./render

# On a whole cluster: e2e, lab and demo. Harder looks, and measures: bench,
# fuzz, properties and supply-chain.
-include test/e2e.mk test/quality.mk

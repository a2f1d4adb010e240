# Targets for people and for CI. `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

GO ?= go
BIN := bin/pipe
TOOL := $(GO) tool -modfile=.ci/tools/go.mod

# How many histories `make sim` plays, and how long each fuzz target runs.
HISTORIES ?= 100000
FUZZTIME ?= 10s

.PHONY: help build test race check bench demo demo-escalation golden fuzz sim clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' Makefile

build: ## build the command into bin/pipe
	$(GO) build -trimpath -o $(BIN) ./cmd/pipe

test: ## run all tests
	$(GO) test ./...

race: ## run all tests with the race detector
	CGO_ENABLED=1 $(GO) test -race ./...

check: ## the gate: format, vet, staticcheck, import policy, tidy modules, tests, the shipped pipelines
	@unformatted="$$(gofmt -l $$($(GO) list -f '{{.Dir}}' ./...))"; \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(TOOL) staticcheck ./...
	$(GO) test -run 'Policy|Packages|Goroutines|PackageComments|HiddenState|Budgets' ./cmd/pipe
	$(GO) mod tidy -diff
	cd .ci/tools && $(GO) mod tidy -diff
	$(GO) test ./...
	$(MAKE) --no-print-directory build
	@if compgen -G 'pipelines/*.yaml' >/dev/null; then $(BIN) check pipelines/*.yaml; fi

bench: ## measure what must stay cheap, as ratios within one run; BENCH_STRICT=1 fails where it is not
	BENCH_STRICT=$(BENCH_STRICT) $(GO) test -run '^$$' -bench '^BenchmarkNumbers$$' -benchtime 1x -count 1 -timeout 60m ./cmd/pipe

demo: build ## the shipped bug-fix pipeline on a small repository, with recorded agents
	testdata/demo/run.sh $(abspath $(BIN))

demo-escalation: build ## a fix that never helps: the run pauses and a second command answers it
	testdata/demo/escalation.sh $(abspath $(BIN))

golden: ## write the golden files anew
	@for pkg in $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r -n1 dirname | sort -u); do \
		$(GO) test "$$pkg" -update; \
	done

fuzz: ## fuzz each target for $(FUZZTIME)
	@grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed 's/:func / /' | sort | while read -r file target; do \
		echo "$$target in $$(dirname "$$file")"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null; \
	done

sim: ## play $(HISTORIES) random histories of the machine, and show that each invariant bites
	$(GO) test -v -run 'TestSimulation$$|TestRoutingIgnoresOrder$$' -count 1 -timeout 60m ./engine/machine -histories $(HISTORIES)
	$(GO) test -tags seeded -run 'TestSeededBugs' -count 1 -timeout 60m ./engine/machine

clean: ## remove what was built
	rm -rf bin

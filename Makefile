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

# Whether `make bench` fails where a number is over its bound.
BENCH_STRICT ?= 1

.PHONY: help build test race lint check sweep bench demo demo-escalation golden fuzz sim clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-16s %s\n", $$1, $$2}' Makefile

build: ## build the command into bin/pipe
	$(GO) build -trimpath -o $(BIN) ./cmd/pipe

test: ## run all tests
	$(GO) test ./...

race: ## run the tests of the program itself with the race detector, which what is measured in memory says nothing under
	CGO_ENABLED=1 $(GO) test -race -skip 'Memory$$|Of200MB$$' $$($(GO) list ./... | grep -v -e '/cmd/pipe/hold$$' -e '/cmd/pipe/shipped$$' -e '/cmd/pipe/sweep$$')

lint: build ## format, vet, staticcheck, tidy modules, the shipped pipelines
	@unformatted="$$(gofmt -l $$($(GO) list -f '{{.Dir}}' ./...))"; \
	if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) vet -tags seeded ./engine/machine
	$(TOOL) staticcheck ./...
	$(GO) mod tidy -diff
	cd .ci/tools && $(GO) mod tidy -diff
	$(BIN) check pipelines/*.yaml

check: lint test ## the gate before a commit: lint, and all tests with the import policy and the budgets

sweep: ## kill the real command at each point of a run, fill its disk, and print how many points there were
	$(GO) test -v -count 1 ./cmd/pipe/sweep | grep -E '^(kill points|levels|ok|FAIL|panic|---)|^ +--- FAIL|_test.go:'

bench: ## measure what must stay cheap, as ratios within one run, and fail where it is not; BENCH_STRICT=0 only tells
	BENCH_STRICT=$(BENCH_STRICT) $(GO) test -run '^$$' -bench '^BenchmarkNumbers$$' -benchtime 1x -count 1 -timeout 60m ./cmd/pipe

demo: build ## the shipped bug-fix pipeline on a small repository, with recorded agents
	testdata/demo/run.sh $(abspath $(BIN))

demo-escalation: build ## a fix that never helps: the run pauses and a second command answers it
	testdata/demo/escalation.sh $(abspath $(BIN))

golden: ## write the golden files anew
	@for pkg in $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r -n1 dirname | sort -u); do \
		$(GO) test "$$pkg" -update; \
	done

# Without a bound all the time would go into making the first text that leads anywhere smaller.
fuzz: ## fuzz each target for $(FUZZTIME)
	@grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed 's/:func / /' | sort | while read -r file target; do \
		echo "$$target in $$(dirname "$$file")"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x "$$(dirname "$$file")" </dev/null; \
	done

sim: ## play $(HISTORIES) random histories of the machine, and show that each invariant bites
	$(GO) test -v -run 'TestSimulation$$|TestRoutingIgnoresOrder$$' -count 1 -timeout 60m ./engine/machine -histories $(HISTORIES)
	$(GO) test -tags seeded -run 'TestSeededBugs' -count 1 -timeout 60m ./engine/machine

clean: ## remove what was built
	rm -rf bin

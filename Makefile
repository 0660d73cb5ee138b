# make run    builds octavo and starts it       make demo   the same with its demo, offline
# make test   installs what the tests need and runs them all
# make bench  every benchmark, as one table     make check  what .ci/run does beside the tests
SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build

VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo 0.1.0-dev)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 2000x
BENCHTIME   ?= 1s
ARGS        ?=

.PHONY: build run demo test deps race check sdkcheck bench fuzz clean

build: bin/octavo

bin/octavo: $(shell git ls-files -co --exclude-standard '*.go' go.mod go.sum 2>/dev/null)
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $@ ./cmd/octavo

# For example: make run ARGS='-p "what does this project do?"'
run: build
	./bin/octavo $(ARGS)

# octavo's own demo, offline, with a home of its own that goes when it ends.
demo: build
	@home=$$(mktemp -d); trap 'rm -rf $$home' EXIT; OCTAVO_HOME=$$home ./bin/octavo --model demo $(ARGS)

# Debian packages by the command that shows they are there.
NEEDS := gcc:gcc python3:python3 git:git rg:ripgrep tmux:tmux patch:patch

deps:
	@missing=; for need in $(NEEDS); do \
		command -v "$${need%%:*}" >/dev/null || missing="$$missing $${need##*:}"; done; \
	if [ -n "$$missing" ]; then \
		as=; [ "$$(id -u)" = 0 ] || as=sudo; \
		$$as apt-get update -qq; DEBIAN_FRONTEND=noninteractive $$as apt-get install -y -qq --no-install-recommends libc6-dev $$missing; fi

test: deps
	go test ./...

# -short crosses each commit point with fewer kills; make test does them all.
race: deps
	CGO_ENABLED=1 go test -race -short ./...

check:
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go vet -tags crashpoints ./cmd/octavo
	GOOS=darwin go vet ./cmd/octavo
	go run $(STATICCHECK) ./...

# The official SDKs of OpenAI and Anthropic, in a module of their own, agree with what octavo sends and reads.
sdkcheck:
	cd ext/model/modeltest/sdkcheck && go vet ./... && go test ./...

# Each fuzz target for a moment, counted and not timed so that a slow machine does as much; a longer hunt is make fuzz FUZZTIME=10m.
fuzz:
	@for pkg in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg | tail -n 2; done; done

bench:
	@go test -run '^$$' -bench . -benchtime $(BENCHTIME) -benchmem ./... | awk ' \
		/^pkg:/ { pkg = $$2; sub(/^octavo\//, "", pkg) } \
		/^Benchmark/ { name = $$1; sub(/^Benchmark/, "", name); sub(/-[0-9]+$$/, "", name); rest = ""; \
			for (i = 3; i < NF; i += 2) rest = rest sprintf("  %14s %-9s", $$i, $$(i + 1)); \
			printf "%-28s %-40s%s\n", pkg, name, rest }'

clean:
	rm -rf bin

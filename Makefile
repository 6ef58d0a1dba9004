# `make demo` and `make test` need Go and make, nothing else.

GO ?= go
BIN := build/bin

# The race detector needs cgo and a C compiler. Where there is none, the same tests run without it.
CC_FOUND := $(shell command -v $$($(GO) env CC) 2>/dev/null)
RACE := $(if $(CC_FOUND),-race)
TEST_ENV := $(if $(CC_FOUND),CGO_ENABLED=1)
TEST_FLAGS ?=
FUZZ_TIME ?= 20s
DEMO_DIR ?= .demo
EVAL_FLAGS ?=
SOAK_TIME ?= 15m

.PHONY: all build demo test bench eval soak fuzz lint fmt docs countries xcaddy checks clean

all: build

# The ready-made server: Caddy's standard modules and ours.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -o build/caddy ./caddy

# Builds the server and a map of Delaware, starts them on 127.0.0.1:8080 and prints requests to paste. The program is
# built and then started, not run through `go run`, which would not pass a signal on to it.
demo:
	@$(GO) build -o $(DEMO_DIR)/bin/demo ./internal/cmd/demo
	@$(DEMO_DIR)/bin/demo -dir $(DEMO_DIR)

test:
	@echo "$(if $(RACE),tests run with the race detector,no C compiler found: tests run without the race detector)"
	$(TEST_ENV) $(GO) test $(RACE) -timeout 30m $(TEST_FLAGS) ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem $(TEST_FLAGS) ./...

# How right and how fast the engines are: on Delaware, and on the data in MAPS_BENCH_DATA where that is set. EVAL_FLAGS=-h
# lists what else can be measured and drawn.
eval:
	@$(GO) build -o $(BIN)/eval ./internal/cmd/eval
	@$(BIN)/eval $(EVAL_FLAGS)

# The real server under mixed traffic at 70% of what it can take, for SOAK_TIME: errors, latencies, memory.
soak:
	MAPS_TEST_SOAK=$(SOAK_TIME) $(GO) test -count 1 -run '^TestSoak$$' -v -timeout 0 ./integration

# Every fuzz target in turn, FUZZ_TIME each.
fuzz:
	@set -e; for dir in $$($(GO) list -f '{{.Dir}}' ./...); do \
		for target in $$(cat "$$dir"/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p'); do \
			echo "$$dir $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZ_TIME) -fuzzminimizetime 2s "$$dir"; \
		done; \
	done

lint: $(BIN)/staticcheck
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not gofmt'ed:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(BIN)/staticcheck ./...

fmt:
	gofmt -w .

# Writes docs/reference.md anew from the comments in the source.
docs:
	$(GO) generate ./internal/cmd/reference

# Compiles the embedded country polygons anew from Natural Earth.
countries:
	$(GO) generate ./internal/country

# A custom Caddy as xcaddy.json describes it, built by the real xcaddy.
xcaddy: $(BIN)/xcaddy
	$(GO) run ./internal/cmd/xcaddybuild -xcaddy $(BIN)/xcaddy -manifest xcaddy.json

$(BIN)/xcaddy: tools/go.mod
	$(GO) -C tools build -o ../$@ github.com/caddyserver/xcaddy/cmd/xcaddy

$(BIN)/staticcheck: tools/go.mod
	$(GO) -C tools build -o ../$@ honnef.co/go/tools/cmd/staticcheck

# What the tests hold tiles and pages against, where there are npm and a network: MapLibre with the Protomaps style, and
# axe. Prints the variable by which they find it.
checks: build/browser/node_modules
	@echo MAPS_TEST_NPM=$(abspath build/browser/node_modules)

build/browser/node_modules: tools/browser/package-lock.json
	@mkdir -p build/browser
	@cp tools/browser/package.json tools/browser/package-lock.json tools/browser/.npmrc build/browser
	@npm ci --prefix build/browser --silent
	@touch $@

# go-pmtiles, with which archives and servers of tiles are compared.
$(BIN)/pmtiles: tools/pmtiles/go.mod
	$(GO) -C tools/pmtiles build -o ../../$@ github.com/protomaps/go-pmtiles

clean:
	rm -rf build .demo

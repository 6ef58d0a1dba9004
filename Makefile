# `make demo` and `make test` need only Go and make.

GO ?= go
BIN := build/bin

# The race detector needs a C compiler. Without one, the same tests run without it.
CC_FOUND := $(shell command -v $$($(GO) env CC) 2>/dev/null)
RACE := $(if $(CC_FOUND),-race)
TEST_ENV := $(if $(CC_FOUND),CGO_ENABLED=1)
TEST_FLAGS ?=
FUZZ_TIME ?= 20s
DEMO_DIR ?= .demo
EVAL_FLAGS ?=
SOAK_TIME ?= 15m

.PHONY: all build demo test test-all bench eval soak fuzz lint fmt docs diagram countries xcaddy checks clients release release-snapshot \
	image-context clean

all: build

# The ready-made server: Caddy's standard modules and ours.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -o build/caddy ./caddy

# Builds the server, serves a map of Delaware on 127.0.0.1:8080 and prints requests to paste. `go run` would not forward
# signals, so the program is built first.
demo:
	@echo "demo: compiling the server (the first time takes some minutes)"
	@$(LAB) build -o $(abspath $(DEMO_DIR))/bin/demo ./cmd/demo
	@$(DEMO_DIR)/bin/demo -dir $(DEMO_DIR)

# lab/ has the developers' programs. It is a separate Go module, which ./... does not include.
LAB := $(GO) -C lab

# What to run after each change. It needs only Go: -short leaves out tests that need more, or take long.
# Results of unchanged packages are cached, but not those of the integration tests: the cache does not know the server
# that they build and start. `make lint` runs vet.
test:
	$(GO) test -short -vet=off $(TEST_FLAGS) $$($(GO) list ./... | grep -v '/integration$$')
	$(GO) test -short -vet=off -count 1 $(TEST_FLAGS) ./integration

# Pure computation runs at full size without the race detector, which makes it ten times slower. Under the race detector
# these packages do a fifth of it, or nothing where they start no goroutines.
COMPUTE := ./internal/compiler/... ./internal/geocoding/... ./internal/matching/... ./internal/routing ./internal/search
SERIAL := ./internal/geo/... ./internal/roadgraph/... ./internal/routing/guidance ./internal/routing/isochrone \
	./internal/routing/order ./internal/search/words ./internal/tiles/... ./internal/trace/...

# All tests, with the race detector wherever there is concurrency. What needs PostgreSQL, a browser, npm, curl or bash
# runs where they are found.
test-all:
	@echo "$(if $(RACE),with the race detector,no C compiler found: without the race detector)"
	$(GO) test -vet=off $(TEST_FLAGS) $(COMPUTE) $(SERIAL)
	$(LAB) test -vet=off $(TEST_FLAGS) ./...
	$(TEST_ENV) $(GO) test $(RACE) -vet=off -timeout 30m $(TEST_FLAGS) $$($(GO) list ./... | \
		grep -vxF -e "$$($(GO) list ./integration $(SERIAL))")
	$(TEST_ENV) $(GO) test $(RACE) -vet=off -count 1 -timeout 30m $(TEST_FLAGS) ./integration

bench:
	$(GO) test -run '^$$' -bench . -benchmem $(TEST_FLAGS) ./...
	$(LAB) test -run '^$$' -bench . -benchmem $(TEST_FLAGS) ./...

# Measures the accuracy and the speed of the engines on Delaware, and on the data in MAPS_BENCH_DATA if that is set.
# EVAL_FLAGS=-h lists the options.
eval:
	@$(LAB) build -o ../$(BIN)/eval ./cmd/eval
	@$(BIN)/eval $(EVAL_FLAGS)

# Lists answers that differ from those of an older server: docs/internals/benchmarks.md has an example.
compare: build
	@$(LAB) build -o ../$(BIN)/compare ./cmd/compare
	@$(BIN)/compare $(COMPARE_FLAGS)

# Runs the server under mixed traffic at 70% of its capacity for SOAK_TIME, and prints errors, latencies and memory.
soak:
	MAPS_TEST_SOAK=$(SOAK_TIME) $(GO) test -count 1 -run '^TestSoak$$' -v -timeout 0 ./integration

# Runs every fuzz target for FUZZ_TIME.
fuzz:
	@set -e; for dir in $$($(GO) list -f '{{.Dir}}' ./... && $(LAB) list -f '{{.Dir}}' ./...); do \
		for target in $$(cat "$$dir"/*_test.go 2>/dev/null | sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p'); do \
			echo "$$dir $$target"; \
			$(GO) -C "$$dir" test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZ_TIME) -fuzzminimizetime 2s .; \
		done; \
	done

# .golangci.yml has the rules. lab/ and tools/ are separate Go modules.
lint: $(BIN)/golangci-lint
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not gofmt'ed:"; echo "$$unformatted"; exit 1; fi
	$(BIN)/golangci-lint run
	cd lab && ../$(BIN)/golangci-lint run
	cd tools && ../$(BIN)/golangci-lint run

fmt:
	gofmt -w .

# Generates docs/reference.md from the comments in the source.
docs:
	$(LAB) generate ./cmd/reference

# Draws the diagram of docs/internals/architecture.md from its text.
diagram:
	$(GO) -C tools/graphviz run . $(abspath docs/images/architecture.dot) $(abspath docs/images/architecture.svg)

# Generates the embedded country polygons from Natural Earth.
countries:
	$(GO) generate ./internal/geo/country

# Builds the Caddy that xcaddy.json describes, with xcaddy.
xcaddy: $(BIN)/xcaddy
	$(LAB) run ./cmd/xcaddybuild -xcaddy $(abspath $(BIN)/xcaddy) -manifest ../xcaddy.json

$(BIN)/xcaddy: tools/go.mod
	$(GO) -C tools build -o ../$@ github.com/caddyserver/xcaddy/cmd/xcaddy

$(BIN)/golangci-lint: tools/golangci/go.mod
	$(GO) -C tools/golangci build -trimpath -o ../../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# Installs from npm what tests check tiles and pages with (MapLibre, the Protomaps style, axe) and clients that they run
# (@gebeta/tiles, openid-client, Leaflet Routing Machine, MapLibre GL Directions), and Valhalla. Prints the variable that
# names them.
checks: build/browser/node_modules
	@echo MAPS_TEST_NPM=$(abspath build/browser/node_modules)

build/browser/node_modules: tools/browser/package-lock.json
	@mkdir -p build/browser
	@cp tools/browser/package.json tools/browser/package-lock.json tools/browser/.npmrc build/browser
	@npm ci --prefix build/browser --silent
	@touch $@

# Generates clients in Go and TypeScript from the OpenAPI documents, and runs them against the server.
clients:
	@.ci/clients

# go-pmtiles, which verifies archives of tiles.
$(BIN)/pmtiles: tools/pmtiles/go.mod
	$(GO) -C tools/pmtiles build -o ../../$@ github.com/protomaps/go-pmtiles

# Releases the tag that is checked out, as .github/workflows/release.yml does.
release: $(BIN)/goreleaser $(BIN)/cyclonedx-gomod
	PATH="$(abspath $(BIN)):$$PATH" goreleaser release --clean

# Builds a release for all platforms in dist/, without the image and without publishing it.
release-snapshot: $(BIN)/goreleaser $(BIN)/cyclonedx-gomod
	PATH="$(abspath $(BIN)):$$PATH" goreleaser release --snapshot --clean --skip=publish,docker $(RELEASE_FLAGS)

# The context of `docker build`: the Dockerfile, and the server for this platform under the name that GoReleaser uses.
image-context:
	@rm -rf build/image && mkdir -p build/image
	@cp -r Dockerfile packaging build/image
	CGO_ENABLED=0 GOOS=linux $(GO) build -trimpath -ldflags '-s -w' -o build/image/linux/$$($(GO) env GOARCH)/caddy ./caddy

$(BIN)/goreleaser: tools/goreleaser/go.mod
	$(GO) -C tools/goreleaser build -trimpath -o ../../$@ github.com/goreleaser/goreleaser/v2

$(BIN)/cyclonedx-gomod: tools/cyclonedx/go.mod
	$(GO) -C tools/cyclonedx build -o ../../$@ github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod

# Checks .github/workflows.
$(BIN)/actionlint: tools/actionlint/go.mod
	$(GO) -C tools/actionlint build -o ../../$@ github.com/rhysd/actionlint/cmd/actionlint

# Checks and prints a compose.yaml.
$(BIN)/compose-spec: tools/compose/go.mod
	$(GO) -C tools/compose build -o ../../$@ github.com/compose-spec/compose-go/v2/cmd

clean:
	rm -rf build dist .demo clients/go/maps clients/go/admin

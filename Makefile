# One line for each thing a contributor does. "make help" lists them.

GO      ?= go
PREFIX  ?= /usr/local
DESTDIR ?=

version = $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
ldflags = -X mediagen/internal/buildinfo.version=$(version)
share   = $(DESTDIR)$(PREFIX)/share

.DEFAULT_GOAL := help
.PHONY: help build build-novips install demo test check lint fmt vuln generate update fuzz bench snapshot clean

help: ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | awk -F'\t' '{printf "  make %-13s %s\n", $$1, $$2}'

build: ## build bin/mediagen with libvips where it is installed, else with the pure-Go imaging
	$(GO) build -trimpath $$(scripts/flavour.sh) -ldflags '$(ldflags)' -o bin/mediagen ./cmd/mediagen

build-novips: ## build bin/mediagen with the pure-Go imaging: one static file, no libvips
	CGO_ENABLED=0 $(GO) build -trimpath -tags=novips,nodynamic -ldflags '$(ldflags)' -o bin/mediagen ./cmd/mediagen

install: build ## install the program, its man pages and completions below PREFIX (/usr/local)
	install -D -m 0755 -t $(DESTDIR)$(PREFIX)/bin bin/mediagen
	install -D -m 0644 -t $(share)/man/man1 man/*.1
	install -D -m 0644 completions/mediagen.bash $(share)/bash-completion/completions/mediagen
	install -D -m 0644 completions/mediagen.zsh $(share)/zsh/site-functions/_mediagen
	install -D -m 0644 completions/mediagen.fish $(share)/fish/vendor_completions.d/mediagen.fish

demo: ## build mediagen and make two pictures with its emulator, without a key
	@scripts/demo.sh

test: ## run every test with the race detector; TESTFLAGS go to "go test"
	@scripts/test.sh $(TESTFLAGS)

check: ## run what CI runs
	@.ci/run

lint: ## check the lint configuration and every package
	@scripts/lint.sh

fmt: ## format every Go file
	$$(scripts/tool.sh golangci-lint) fmt

vuln: ## look for vulnerabilities that the code can reach, with a local database
	@scripts/vuln.sh

generate: ## write man pages, completions and the generated regions of README.md
	$(GO) run $$(scripts/flavour.sh) ./cmd/gendocs

update: ## rewrite the golden files; read the diff before you commit it
	$(GO) test $$(scripts/flavour.sh) $$(scripts/golden.sh) -update

fuzz: ## run every fuzz target for FUZZTIME (10s)
	@scripts/fuzz.sh $(FUZZTIME)

bench: ## run every benchmark
	$(GO) test $$(scripts/flavour.sh) -run='^$$' -bench=. -benchmem ./...

snapshot: ## build the release archives into dist/ without publishing
	$$(scripts/tool.sh goreleaser) release --snapshot --clean --skip=publish

clean: ## remove what the other targets built, the tools too
	rm -rf bin dist demo-out .cache

# Everything here is also a plain command; `make` alone prints what there is.
GO ?= go
OUT ?= argosy
CGO ?= 0
PARTS := $(shell sed -n 's/^all="\(.*\)"/\1/p' bench/nightly.sh)

DASH := internal/fleet/dash
ESBUILD := $(GO) tool -modfile=tools.mod esbuild

export GO

.PHONY: help build dash test long servers nightly check bench

help:
	@echo "make build   the binary, ./argosy"
	@echo "make dash    the pages of the dashboard, from $(DASH)/src; what is built is checked in"
	@echo "make test    the tests; those that need PostgreSQL, or what make servers builds, are skipped without"
	@echo "make long    the tests named TestLong..., which take longer each, and which make test leaves out"
	@echo "make servers the servers that tests start: NATS, an S3-compatible one, argosy 0.1.0 where history has it"
	@echo "make check   what every change must pass: formatting, linters, tests, archives read by an independent reader, a walk in Chromium"
	@echo "make nightly what takes longer: $(PARTS)"
	@echo "             Each says how long, and the next one runs when one fails. make nightly-PART runs one; bench/nightly.sh has the variables:"
	@echo "             FUZZTIME a fuzz target (30s), SEEDS of the simulated fleet (100), KILLS of a crawl (20), RACE packages, LOGS"
	@echo "make bench   Go benchmarks; the larger ones are described in bench/README.md"

build:
	CGO_ENABLED=$(CGO) $(GO) build -trimpath -ldflags "-s -w" -o $(OUT) ./cmd/argosy

dash:
	$(ESBUILD) $(DASH)/src/main.jsx --bundle --minify --target=es2022 --format=iife --charset=utf8 --legal-comments=eof \
		--jsx-factory=h --jsx-fragment=Fragment --alias:preact=./$(DASH)/lib/preact.mjs --outfile=$(DASH)/dist/app.js --log-level=warning
	$(ESBUILD) $(DASH)/src/app.entry.css --bundle --minify --outfile=$(DASH)/dist/app.css --log-level=warning
	gzip -9 -n -f $(DASH)/dist/app.js $(DASH)/dist/app.css

test:
	$(GO) test ./...

long:
	$(GO) test -run '^TestLong' $$(grep -rl --include=*_test.go '^func TestLong' bench cmd internal | xargs -n1 dirname | sort -u | sed 's|^|./|')

servers:
	$(GO) build -o internal/testkit/servers/bin/nats-server github.com/nats-io/nats-server/v2
	cd internal/testkit/servers && $(GO) build -o bin/versitygw github.com/versity/versitygw/cmd/versitygw
	internal/testkit/servers/old.sh "$(GO)"

nightly:
	bench/nightly.sh

nightly-%:
	bench/nightly.sh $*

check:
	.ci/run

bench:
	$(GO) test -run '^$$' -bench . ./internal/crawl ./internal/page/parse

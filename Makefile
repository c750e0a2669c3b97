# Everything here is also a plain command; `make` alone prints what there is.
GO ?= go
FUZZTIME ?= 30s
SEEDS ?= 100
OUT ?= argosy
ENGINES ?= /tmp/argosy-engines

DASH := internal/fleet/dash
ESBUILD := $(GO) tool -modfile=tools.mod esbuild

.PHONY: help build dash test servers nightly check race fuzz bench tidy

help:
	@echo "make build   the binary, ./argosy"
	@echo "make dash    the pages of the dashboard, from $(DASH)/src; what is built is checked in"
	@echo "make test    the tests; those that need PostgreSQL, or what make servers builds, are skipped without"
	@echo "make servers the servers that tests start: NATS, an S3-compatible one, argosy 0.1.0 where history has it"
	@echo "make check   what every change must pass: formatting, linters, tests, archives read by an independent reader, a walk in Chromium"
	@echo "make race    all tests under the race detector"
	@echo "make nightly race, fuzz, SEEDS (100) sequences of faults in the simulated fleet, 20 kills, strategies in ten worlds, every page"
	@echo "             of the dashboard in Chromium, the API by a generated client, and search programs of Debian (as root)"
	@echo "make fuzz    each fuzz target that there is, for FUZZTIME (30s)"
	@echo "make bench   Go benchmarks; the larger ones are described in bench/README.md"

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o $(OUT) ./cmd/argosy

dash:
	$(ESBUILD) $(DASH)/src/main.jsx --bundle --minify --target=es2022 --format=iife --charset=utf8 --legal-comments=eof \
		--jsx-factory=h --jsx-fragment=Fragment --alias:preact=./$(DASH)/lib/preact.mjs --outfile=$(DASH)/dist/app.js --log-level=warning
	$(ESBUILD) $(DASH)/src/app.entry.css --bundle --minify --outfile=$(DASH)/dist/app.css --log-level=warning
	gzip -9 -n -f $(DASH)/dist/app.js $(DASH)/dist/app.css

test:
	$(GO) test ./...

servers:
	$(GO) build -o internal/testkit/servers/bin/nats-server github.com/nats-io/nats-server/v2
	cd internal/testkit/servers && $(GO) build -o bin/versitygw github.com/versity/versitygw/cmd/versitygw
	internal/testkit/servers/old.sh "$(GO)"

nightly: servers race fuzz
	bench/browser/run.sh -full
	bench/api/run.sh
	$(GO) test ./internal/fleet/assemble -run 'Simulated|Replay' -sim.seeds $(SEEDS) -timeout 2h
	$(GO) test ./internal/fleet/assemble -run KilledIt -kills 20 -timeout 1h
	$(GO) test ./internal/plan/sim -sim.seeds 10 -timeout 1h
	bench/engines.sh start $(ENGINES)
	$(GO) run ./bench/engines -dir $(ENGINES) && $(GO) run ./bench/collect -dir $(ENGINES) && $(GO) run ./bench/collect -dir $(ENGINES) -kill; \
		code=$$?; bench/engines.sh stop $(ENGINES); exit $$code

check:
	.ci/run

race:
	$(GO) test -race -timeout 1h ./...

fuzz:
	@grep -ro --include=*_test.go '^func Fuzz[A-Za-z0-9]*' internal | sort | while IFS=: read -r file func; do \
		target=$${func#func }; echo "$$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5s "./$$(dirname "$$file")" || exit 1; \
	done

bench:
	$(GO) test -run '^$$' -bench . ./internal/crawl ./internal/page/parse

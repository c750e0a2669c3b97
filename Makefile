# Everything here is also a plain command; `make` alone prints what there is.
GO ?= go
OUT ?= argosy

.PHONY: help build test servers nightly check race fuzz bench tidy

help:
	@echo "make build   the binary, ./argosy"
	@echo "make test    the tests; those that need PostgreSQL, or what make servers builds, are skipped without"
	@echo "make servers the servers that tests start: NATS and an S3-compatible one"
	@echo "make check   what every change must pass: formatting, linters, tests, archives read by an independent reader"
	@echo "make race    all tests under the race detector"
	@echo "make nightly race, fuzz, and a hundred seeds of the simulated fleet"
	@echo "make fuzz    each fuzz target for half a minute"
	@echo "make bench   Go benchmarks; the larger ones are described in bench/README.md"

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o $(OUT) ./cmd/argosy

test:
	$(GO) test ./...

servers:
	$(GO) build -o internal/testkit/servers/bin/nats-server github.com/nats-io/nats-server/v2
	cd internal/testkit/servers && $(GO) build -o bin/versitygw github.com/versity/versitygw/cmd/versitygw

nightly: servers race fuzz
	$(GO) test ./internal/fleet/assemble -run Simulated -sim.seeds 100 -timeout 2h

check:
	.ci/run

race:
	$(GO) test -race ./...

fuzz:
	$(GO) test -run '^$$' -fuzz FuzzFastPath -fuzztime 30s -fuzzminimizetime 5s ./internal/crawl
	$(GO) test -run '^$$' -fuzz FuzzParse -fuzztime 30s -fuzzminimizetime 5s ./internal/page/robots
	$(GO) test -run '^$$' -fuzz FuzzScan -fuzztime 30s -fuzzminimizetime 5s ./internal/page/parse
	$(GO) test -run '^$$' -fuzz FuzzDecodeRecord -fuzztime 30s -fuzzminimizetime 5s ./internal/plan/predict
	$(GO) test -run '^$$' -fuzz FuzzSURT -fuzztime 30s -fuzzminimizetime 5s ./internal/crawl
	$(GO) test -run '^$$' -fuzz FuzzDecode -fuzztime 30s -fuzzminimizetime 5s ./internal/page/robots
	$(GO) test -run '^$$' -fuzz FuzzGzip -fuzztime 30s -fuzzminimizetime 5s ./internal/page/inflate
	$(GO) test -run '^$$' -fuzz FuzzMarkets -fuzztime 30s -fuzzminimizetime 5s ./internal/plan/solve
	$(GO) test -run '^$$' -fuzz FuzzReaders -fuzztime 30s -fuzzminimizetime 5s ./internal/plan/dataset

bench:
	$(GO) test -run '^$$' -bench . ./internal/crawl ./internal/page/parse

# Everything here is also a plain command; `make` alone prints what there is.
GO ?= go

.PHONY: help build test check race fuzz bench tidy

help:
	@echo "make build   the binary, ./argosy"
	@echo "make test    the tests"
	@echo "make check   what every change must pass: formatting, linters, tests, archives read by an independent reader"
	@echo "make race    all tests under the race detector"
	@echo "make fuzz    each fuzz target for half a minute"
	@echo "make bench   Go benchmarks; the larger ones are described in bench/README.md"

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o argosy ./cmd/argosy

test:
	$(GO) test ./...

check:
	.ci/run

race:
	$(GO) test -race ./...

fuzz:
	$(GO) test -run '^$$' -fuzz FuzzFastPath -fuzztime 30s -fuzzminimizetime 5s ./internal/crawl
	$(GO) test -run '^$$' -fuzz FuzzParse -fuzztime 30s -fuzzminimizetime 5s ./internal/page/robots
	$(GO) test -run '^$$' -fuzz FuzzScan -fuzztime 30s -fuzzminimizetime 5s ./internal/page/parse
	$(GO) test -run '^$$' -fuzz FuzzDecodeRecord -fuzztime 30s -fuzzminimizetime 5s ./internal/plan/predict

bench:
	$(GO) test -run '^$$' -bench . ./internal/crawl ./internal/page/parse

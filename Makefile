# What one does with Bobbin. `make` alone lists it; each target's line below is its help.

.DEFAULT_GOAL := help
.PHONY: help run release test setup-tests lint tools lab bench fuzz differ sim history canaries soak transcripts-against-redis shared-lines miri asan

# Flags for `make run`: make run FLAGS="--port 7000 --fsync always"
FLAGS ?=
# The scenarios of `make bench`, all if empty; QUICK=1 makes a short trial of them.
SCENARIOS ?=
QUICK ?=
FUZZ_SECONDS ?= 600
DIFFER_SECONDS ?= 3600
SOAK_SECONDS ?= 3600
# How history tests and canaries build the real binary: without assertions, unlike `make test`.
SERVER_PROFILE ?= real

export FUZZ_SECONDS SOAK_SECONDS SERVER_PROFILE
# Where scripts/setup-tests puts the clients that tests start.
export BOBBIN_PYTHON := $(CURDIR)/.venv/bin/python
export NODE_PATH := $(CURDIR)/scripts/clients/node_modules

# Code that is built only for schedules, for counts and for canaries: lint checks it, for no other target compiles it.
RARE := --cfg shuttle --cfg bobbin_counting --cfg bobbin_canary="early-message" --cfg bobbin_canary="early-read" \
	--cfg bobbin_canary="early-release" --cfg bobbin_canary="early-reply" --cfg bobbin_canary="lockless-pop" \
	--cfg bobbin_canary="skipped-stamp"

SERVER_TEST := cargo test --profile $(SERVER_PROFILE) -p server

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-28s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build quickly and start the server (FLAGS="...")
	cargo build --profile quick -p server
	exec target/quick/bobbin $(FLAGS)

release: ## build target/release/bobbin, the one that is measured
	cargo build --release -p server -p lab

test: setup-tests ## run all tests; ends with: N passed, N failed, N skipped
	@scripts/run-tests

setup-tests: ## install the peers and clients that tests use, where possible
	@scripts/setup-tests

lint: ## check format, clippy, licences, advisories and dependencies
	cargo fmt --all --check
	cargo fmt --manifest-path fuzz/Cargo.toml --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	@# As `make run` builds it: the whole workspace turns on more features of dependencies.
	cargo clippy -p server --locked -- -D warnings
	RUSTFLAGS='$(RARE)' cargo clippy --target-dir target/rare --locked -p base -p sync -p journal -p engine --lib --tests -- -D warnings
	@if cargo deny --version >/dev/null 2>&1; \
	then cargo deny --all-features --log-level error check licenses bans sources && \
		if timeout 60 cargo deny fetch db >/dev/null 2>&1; \
		then cargo deny --all-features --log-level error check --disable-fetch advisories; \
		else echo "lint: advisories not checked, their database cannot be reached from here"; fi; \
	else echo "lint: licences not checked, cargo-deny is not installed (make tools)"; fi

tools: ## install cargo-deny, which lint uses
	cargo deny --version 2>/dev/null || cargo install --locked cargo-deny@0.20.2

lab: release ## list the benchmark reports and scenarios; LAB="run memlink --quick" runs one
	target/release/bobbin-lab $(LAB)

bench: release ## measure SCENARIOS="..." and add the rows to lab/records, from which docs/figures.md is made
	target/release/bobbin-lab run --records lab/records $(SCENARIOS)

fuzz: ## run each fuzz target for FUZZ_SECONDS
	@scripts/fuzz

differ: ## send the same random commands to Bobbin and redis-server and compare, for DIFFER_SECONDS
	cargo build --profile real -p server
	scripts/differ --seconds $(DIFFER_SECONDS)

# SEED is a seed to run again; without it SEEDS seeds are run, from SEEDS_FROM on. `make test` has its own, smaller number.
sim: export SEEDS ?= 10000
sim: ## run the simulator: SEEDS seeds from SEEDS_FROM on, or the one SEED
	cargo test --profile checked -p sim -- --nocapture

history: export BOBBIN_HISTORY_SECONDS ?= 120
history: ## record calls and replies under kill -9 and check their order
	$(SERVER_TEST) --test tests -- --nocapture history::

canaries: ## build faults in on purpose, one by one: the history test must find each
	@scripts/canaries

soak: ## run what is too long for CI, about SOAK_SECONDS, and note in lab/records what came of it
	@scripts/soak

transcripts-against-redis: setup-tests ## run all transcripts against redis-server and list differences
	cargo test -p commands --test tests against_redis -- --ignored --nocapture

shared-lines: export RUSTFLAGS := --cfg bobbin_counting
shared-lines: ## count the cache lines that two workers share in a request
	cargo test --target-dir target/counting -p base --lib primitives::
	cargo test --target-dir target/counting -p engine --test tests -- --nocapture shared_lines::

miri: ## run the laws of the crates with unsafe code under Miri, where it is installed
	BOBBIN_CASES=4 cargo +nightly miri test -p blocks -p table -p sync

asan: ## run the same laws under AddressSanitizer (nightly Rust)
	LSAN_OPTIONS=suppressions=$(CURDIR)/scripts/leaks RUSTFLAGS=-Zsanitizer=address cargo +nightly test --target x86_64-unknown-linux-gnu --target-dir target/asan \
		-p blocks -p table -p sync --lib --tests

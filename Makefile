# Every target first installs what it needs into .venv; nothing but Python 3.11+ and make is asked for.
PYTHON ?= python3
BIN := .venv/bin
SEEDS ?= 200
FUZZ ?= 1000000
ROUNDS ?= 50
NODES ?= 3

# Modules of tests are compiled once, not by every process of every step, whatever the shell that calls is used to.
export PYTHONDONTWRITEBYTECODE =

# What failed beside other tests must fail alone too, to stop a run; both are printed, and both are to be looked at.
# Steps that run side by side remember their failures apart.
PYTEST = $(BIN)/python -m pytest -o cache_dir=.pytest_cache/$@
AGAIN = $(PYTEST) --last-failed --last-failed-no-failures none

# Where tests keep what is dear to make, as tests/conftest.py says.
CACHES = .pytest_cache/penstock

THREE = PENSTOCK_TEST_NODES=3
CONFORMANCE = tests/interop/test_conformance.py

.DEFAULT_GOAL := help
.PHONY: help install run demo test units spark conformance browser check collect lint types fuzz sim chaos interop bench clean

help:  ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 16

install: .venv/.base  ## install Penstock into .venv

run: .venv/.base  ## run a broker on 127.0.0.1:9092
	$(BIN)/penstock serve

demo: .venv/.spark  ## the main job end to end: produce, consume, copy exactly once, kill a broker, a pipeline on Spark, the console
	$(BIN)/python examples/demo.py

# Two at a time: tests of brokers and of Spark wait often enough to share two cores.
test: .venv/.dev  ## everything that must hold: style, types, layers, unit, interop, crash and fault tests
	$(MAKE) --no-print-directory --jobs 2 --output-sync=target check collect
	$(MAKE) --no-print-directory --jobs 2 --output-sync=line units spark conformance browser

units: .venv/.dev
	$(PYTEST) -n 4 --dist worksteal -m 'not spark and not browser' || $(AGAIN) -m 'not spark and not browser'

conformance: .venv/.dev
	$(THREE) $(PYTEST) -n 5 --dist worksteal $(CONFORMANCE) || $(THREE) $(AGAIN) $(CONFORMANCE)

browser: .venv/.dev
	$(PYTEST) -n 2 --dist loadfile -m browser tests/gateway || $(AGAIN) -m browser tests/gateway

# Tests start Java again and again, which takes half the time with an archive of its classes. Without Java they are skipped.
spark: .venv/.dev
	-PENSTOCK_CACHE_DIR=$(CACHES) $(BIN)/python -m penstock.spark.sessions.archive_making
	$(PYTEST) -m spark tests/spark || $(AGAIN) -m spark tests/spark
	$(PYTEST) -m spark tests/docs tests/examples tests/cli || $(AGAIN) -m spark tests/docs tests/examples tests/cli

check: lint types

collect: .venv/.dev
	$(BIN)/python -m pytest --collect-only --quiet >/dev/null

lint: .venv/.dev  ## style and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/.dev  ## mypy, strict
	$(BIN)/mypy
	cd examples/testing_your_app && ../../$(BIN)/mypy --cache-dir ../../.mypy_cache/testing_your_app orders tests

fuzz: .venv/.dev  ## FUZZ mutated requests against the codec
	$(BIN)/python tests/fuzz/fuzz_wire.py --count $(FUZZ)

sim: .venv/.dev  ## SEEDS simulated disks, Raft clusters and whole brokers that crash, tear, fill up and rot
	$(BIN)/python -m penstock.sim storage --seeds $(SEEDS)
	$(BIN)/python -m penstock.sim compaction --seeds $(SEEDS)
	$(BIN)/python -m penstock.sim raft --seeds $(SEEDS)
	$(BIN)/python -m penstock.sim cluster --seeds $(SEEDS)

chaos: .venv/.dev  ## the crash and fault tests on real processes, ROUNDS kill -9 rounds
	PENSTOCK_KILL_ROUNDS=$(ROUNDS) $(BIN)/python -m pytest tests/chaos tests/spark/windows tests/spark/connector tests/deploy/test_image.py --timeout 1800

interop: .venv/.dev  ## the client tests and the copy loop, unchanged, against NODES brokers
	PENSTOCK_TEST_NODES=$(NODES) $(BIN)/python -m pytest -n 3 --dist worksteal tests/interop tests/chaos/test_copy_loop.py

bench: .venv/.dev  ## the benchmark tables (about a quarter of an hour)
	$(BIN)/python benchmarks/run.py
	$(BIN)/python benchmarks/cluster.py
	$(BIN)/python benchmarks/clients.py
	$(BIN)/python benchmarks/spark.py

clean:  ## remove what the targets made
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

.venv/.base: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Penstock needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; say make PYTHON=/path/to/python3.12" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	$(BIN)/python -m compileall -q src
	touch $@

.venv/.spark: .venv/.base pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
	touch $@

.venv/.dev: .venv/.base pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,spark,gateway]'
	touch $@

# Needs make and Python 3.11 or later with pip; everything else comes from the lock files.
#   make test PYTHON=python3.13 VENV=.venv-3.13      another Python, beside the first

PYTHON  ?= python3
VENV    ?= .venv
WORKERS ?= 2

# One thread for linear algebra: processes are the parallelism, and sums keep their order.
export OMP_NUM_THREADS      ?= 1
export OPENBLAS_NUM_THREADS ?= 1
export PIP_DISABLE_PIP_VERSION_CHECK = 1

BIN     := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet
LOCKED  := $(INSTALL) --require-hashes --only-binary :all:
ITSELF  := $(INSTALL) --no-index --no-deps --no-build-isolation --editable .
PYTEST  := $(BIN)/pytest --quiet --numprocesses $(WORKERS)
UV      := uv==0.13.7
COMPILE := $(BIN)/uv pip compile pyproject.toml --quiet --system-certs --upgrade --universal \
           --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --no-annotate

say = @printf '%-10s %s\n'

define measured
$(say) benchmark '$(2)'
	@$(1)/bin/python -m benchmarks $(2)

endef

.DEFAULT_GOAL := help
.PHONY: help reproduce test lint test-slow battery mutants limits peers bench docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

reproduce: $(VENV)/.core $(VENV)/.fresh ## reproduce figure 1 of the paper
	$(say) reproduce 'figure 1'
	@$(BIN)/soids reproduce figure1

# Two threads for Numba: enough to test that results do not depend on their number. The same
# kernels of OpenBLAS on every x86 processor, so that sums round alike and golden traces hold.
test test-slow battery mutants: export NUMBA_NUM_THREADS ?= 2
test test-slow battery mutants: export OPENBLAS_CORETYPE ?= Haswell

test: lint $(VENV)/.dev $(VENV)/.fresh ## style, types, imports and tests
	$(say) pytest 'all but the slow tests'
	@$(PYTEST)
	$(say) pytest 'kernels as plain Python'
	@NUMBA_DISABLE_JIT=1 $(PYTEST) tests/kernels

lint: $(VENV)/.dev ## style, types and imports only
	$(say) ruff 'style'
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet || { $(BIN)/ruff format --diff --quiet; exit 1; }
	$(say) mypy 'types'
	@$(BIN)/mypy --no-error-summary
	$(say) imports 'direction'
	@report=$$($(BIN)/lint-imports 2>&1) || { printf '%s\n' "$$report"; exit 1; }

test-slow: $(VENV)/.dev $(VENV)/.fresh ## the tests that take minutes
	$(say) pytest 'the slow tests'
	@$(PYTEST) -m slow

battery: $(VENV)/.dev $(VENV)/.fresh ## the batteries of tests/battery whole, about an hour; `make test` runs a sample
	$(say) pytest 'the batteries'
	@$(PYTEST) --battery tests/battery

mutants: $(VENV)/.dev $(VENV)/.fresh ## break the code on purpose: do the tests notice?
	$(say) mutants 'tests/mutants/mutants.py'
	@$(BIN)/python tests/mutants/mutants.py

limits: $(VENV)/.dev $(VENV)/.fresh ## measure speed, budgets, a large run, designs, the harness and the paper's sampler
	$(foreach name,speed budget large designs harness langevin,$(call measured,$(VENV),$(name)))

peers: $(VENV)-peers/.peers ## install the libraries that we compare with, in an environment of their own

bench: peers ## measure samplers and decisions beside those of other libraries
	$(foreach name,samplers decisions,$(call measured,$(VENV)-peers,$(name)))

docs: $(VENV)/.dev ## write the tables of README and docs from docs/results
	$(say) docs 'tables and numbers'
	@$(BIN)/python docs/write.py

lock: $(VENV)/.python ## renew the lock files
	$(say) lock 'requirements.lock, requirements-dev.lock, benchmarks/requirements.lock'
	@$(INSTALL) --only-binary :all: $(UV)
	@$(COMPILE) --extra plot --group build --output-file requirements.lock >/dev/null
	@$(COMPILE) --all-extras --group dev --constraints requirements.lock --output-file requirements-dev.lock >/dev/null
	@$(COMPILE) benchmarks/requirements.txt --extra plot --group build --constraints requirements.lock \
	  --output-file benchmarks/requirements.lock >/dev/null

clean: ## remove all that was made here, except results
	$(say) clean '$(VENV), $(VENV)-peers, caches, dist'
	@rm -rf $(VENV) $(VENV)-peers dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	@find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +

# Stamps: a step is done again only when what it depends on has changed.

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'soids needs Python 3.11 or later; choose one with: make PYTHON=python3.13 ...' >&2; exit 1; }
	$(say) venv '$(VENV)'
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.core: requirements.lock pyproject.toml $(VENV)/.python
	$(say) install 'requirements.lock, soids'
	@$(LOCKED) --requirement requirements.lock
	@$(ITSELF)
	@touch $@

$(VENV)/.dev: requirements-dev.lock pyproject.toml $(VENV)/.python
	$(say) install 'requirements-dev.lock, soids'
	@$(LOCKED) --requirement requirements-dev.lock
	@$(ITSELF)
	@touch $@

$(VENV)-peers/.peers: benchmarks/requirements.lock pyproject.toml
	$(say) install 'benchmarks/requirements.lock, soids'
	@$(PYTHON) -m venv --clear $(VENV)-peers
	@$(VENV)-peers/bin/pip install --quiet --require-hashes --only-binary :all: --requirement benchmarks/requirements.lock
	@$(VENV)-peers/bin/pip install --quiet --no-index --no-deps --no-build-isolation --editable .
	@touch $@

# Numba recompiles a kernel when its own file changes, not when one that it calls does: forget all.
$(VENV)/.fresh: $(VENV)/.python $(wildcard src/soids/kernels/*.py src/soids/kernels/*/*.py tests/referee/*.py)
	@find src tests -name '*.nb[ic]' -delete
	@touch $@

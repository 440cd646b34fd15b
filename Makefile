# Needs make and Python 3.11 or newer with pip and venv; everything else goes into .venv.
# Another interpreter: make PYTHON=/path/to/python3.12 test

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEVELOPING := $(VENV)/.developing
UV := $(BIN)/python -m uv pip install
INSTALL := $(UV) --quiet --compile-bytecode --python $(BIN)/python -c constraints.txt -b constraints.txt
# Which build of PyTorch uv is told to take, chosen once (CHOOSE_TORCH); empty: the registry's.
TORCH := $(VENV)/.torch
# Only when PYTHON was not chosen are others tried too.
CANDIDATES := $(if $(filter file,$(origin PYTHON)),python3 python3.14 python3.13 python3.12 python3.11,$(PYTHON))
PYTEST := $(BIN)/python -m pytest -o cache_dir=$(VENV)/cache/pytest
# Of two cores: tests wait for programs that they start, so that four processes left a sixth of the time unused.
WORKERS ?= 5

# Where Python keeps no bytecode, every process of a test run compiles all sources anew.
unexport PYTHONDONTWRITEBYTECODE
export MYPY_CACHE_DIR := $(VENV)/cache/mypy
# Processes of a test run are as many as there are cores; threads of theirs would wait for each other at full speed.
export OPENBLAS_NUM_THREADS := 1
export RUFF_CACHE_DIR := $(VENV)/cache/ruff

.DEFAULT_GOAL := help
.PHONY: help install develop demo bench bench-docs docs notebooks check kernels test test-all proofs test-boundscheck \
        test-nojit test-lowest lint lint-style lint-format lint-types manifest format clean distclean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 18

install: $(STAMP)  ## create .venv with what users need (the other targets do so themselves)

develop: $(DEVELOPING)  ## install the tools of developers too (make test, docs and the like do so themselves)

demo: $(STAMP)  ## train for about two minutes, then enter the Hog contest against every bot
	rm -rf $(VENV)/demo
	$(BIN)/dicegym train hog --run-dir $(VENV)/demo/run --steps 5000000 --set algorithm.ent_coef=0.15
	$(BIN)/dicegym export $(VENV)/demo/run/best.zip --as $(VENV)/demo/learned/hog.py
	$(BIN)/dicegym tournament hog agents/hog $(VENV)/demo/learned --exact

bench: $(STAMP)  ## measure decisions per second
	$(BIN)/dicegym doctor --bench

bench-docs: $(DEVELOPING)  ## measure everything beside the peers, on a quiet machine, and renew docs/bench.json
	$(INSTALL) --group peers
	$(BIN)/python -m benchmarks measure all --threads 1,2 -o docs/bench.json

docs: $(DEVELOPING)  ## build the site in docs/_build/html, warnings being errors
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs docs/_build/html

notebooks: $(DEVELOPING)  ## run the notebooks and keep what they show
	$(BIN)/python tests/notebook_runs.py

# None of their tests waits: more processes than cores would only load what they need once more each.
check test-boundscheck test-nojit: WORKERS = $(or $(shell nproc 2>/dev/null),2)
check: lint $(DEVELOPING)  ## before a commit: lint, and the rules of all games (a minute once kernels are compiled)
	$(PYTEST) -q -n $(WORKERS) --dist worksteal -m '(nojit or check) and not slow'

kernels: $(STAMP)  ## compile the kernels, as many games at once as there are cores
	$(BIN)/python tests/warm_up.py all

test: $(DEVELOPING)  ## run the tests, without the slow ones
	$(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test-all: $(DEVELOPING)  ## run all tests: every night, and before a release
	$(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m 'slow or not slow'

proofs: $(DEVELOPING)  ## compare what no redesign may change with its record in tests/proofs
	$(BIN)/python tests/proofs.py

test-boundscheck: $(DEVELOPING)  ## run the tests of kernels with array bounds checked
	NUMBA_BOUNDSCHECK=1 $(PYTEST) -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m 'boundscheck and not slow'

test-nojit: $(DEVELOPING)  ## run the tests of rules as plain Python
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n $(WORKERS) --dist worksteal -m 'nojit and not slow'

# Hog alone is compiled, into a cache of its own: an older compiler cannot use the kernels of a newer one.
LOWEST := $(VENV)/lowest
LOWEST_TESTS := tests/envs/test_options.py tests/engine/test_features.py
test-lowest: $(DEVELOPING)  ## try the lowest versions that pyproject.toml allows
	$(BIN)/python -m uv venv --quiet --allow-existing --python $(BIN)/python $(LOWEST)
	$(UV) --quiet --python $(LOWEST)/bin/python --resolution lowest-direct $$(cat $(TORCH)) \
	    -e '.[train,render]' 'pytest>=9' 'hypothesis>=6.150'
	@rm -rf dicegym.egg-info
	DICEGYM_CACHE=$(abspath $(LOWEST))/kernels $(LOWEST)/bin/python tests/warm_up.py rules hog
	NUMBA_DISABLE_JIT=1 $(LOWEST)/bin/python -m pytest -o cache_dir=$(VENV)/cache/pytest -q $(LOWEST_TESTS)

lint: lint-style lint-format lint-types  ## check style, format and types

lint-style: $(DEVELOPING)
	$(BIN)/ruff check .

lint-format: $(DEVELOPING)
	$(BIN)/ruff format --check .

lint-types: $(DEVELOPING)
	$(BIN)/mypy

manifest: $(STAMP)  ## say anew which agents ship, after a change to agents/
	$(BIN)/python -c "from dicegym import shipped; shipped.MANIFEST.write_text(shipped.manifest_text())"

format: $(DEVELOPING)  ## rewrite the sources in the house format
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

clean:  ## remove what building and testing left, but not .venv
	rm -rf build dist *.egg-info .hypothesis .pytest_cache .mypy_cache .ruff_cache $(VENV)/cache
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -exec rm -rf {} +

distclean: clean  ## remove .venv too
	rm -rf $(VENV)

# The registry's PyTorch for Linux brings CUDA, gigabytes that serve nobody without a GPU. PyTorch's own index has builds for
# each kind of machine, but cannot be reached from all of them: so uv tries whether it could install from there.
IN_TEN_SECONDS := $(BIN)/python -c 'import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:], timeout=10))'
define CHOOSE_TORCH
if [ -n "$$UV_TORCH_BACKEND" ]; then \
  echo "PyTorch: the build for $$UV_TORCH_BACKEND, as UV_TORCH_BACKEND says"; \
  echo "--torch-backend=$$UV_TORCH_BACKEND" >$(TORCH); \
elif [ -e $(TORCH) ]; then :; \
elif $(BIN)/python -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'; then \
  echo "PyTorch: the build that $(VENV) has"; \
  : >$(TORCH); \
elif UV_HTTP_RETRIES=0 $(IN_TEN_SECONDS) $(INSTALL) --dry-run --torch-backend=auto torch >/dev/null 2>&1; then \
  echo "PyTorch: the build for this machine, from PyTorch's own index"; \
  echo "--torch-backend=auto" >$(TORCH); \
else \
  echo "PyTorch: the package registry's build, as PyTorch's own index gave none within ten seconds"; \
  : >$(TORCH); \
fi
endef

# Libraries are compiled to bytecode once, for where Python is told to write none (PYTHONDONTWRITEBYTECODE): every process
# that imports PyTorch then translated two thousand files, which took 5 to 10 s, and hundreds of processes run in the tests.
# The stamp is written last, so an interrupted installation is taken up again. An existing .venv is kept.
# The editable install leaves metadata beside the sources that .venv has as well: a second, ageing copy.
$(STAMP): pyproject.toml setup.cfg constraints.txt
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { \
	  for python in $(CANDIDATES); do \
	    if "$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	      echo "$$python -m venv $(VENV)"; "$$python" -m venv $(VENV) && exit 0; \
	    fi; \
	  done; \
	  echo "dicegym needs Python 3.11 or newer with pip and venv, and none of these is one: $(CANDIDATES)" >&2; \
	  for python in $(CANDIDATES); do \
	    echo "  $$python: $$("$$python" -c 'import sys; print(sys.version.split()[0], end=" "); import ensurepip, venv' 2>&1 | tail -n 1)" >&2; \
	  done; \
	  echo "'No module named ensurepip': install venv, on Debian and Ubuntu by 'apt install python3-venv'." >&2; \
	  echo "Older than 3.11: install a newer Python and name it, as in 'make PYTHON=python3.12 test'." >&2; \
	  exit 1; }
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(VENV) was made by a Python older than 3.11: 'make distclean', then 'make PYTHON=python3.12 install'." >&2; \
	  exit 1; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
	@$(CHOOSE_TORCH)
	$(INSTALL) $$(cat $(TORCH)) -e '.[train,render,arena,web,jail]'
	@rm -rf dicegym.egg-info
	@touch $@

$(DEVELOPING): $(STAMP)
	$(INSTALL) $$(cat $(TORCH)) -e '.[train,render,arena,web,jail,postgres,ray,openspiel,llm]' --group dev
	@rm -rf dicegym.egg-info
	@touch $@

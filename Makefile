# make demo   set up and run the main job       make test   set up, check and run all tests
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
CORE_FILES := $(shell find core -name '*.hpp' -o -name '*.cpp')
CORE := pyproject.toml CMakeLists.txt $(CORE_FILES)
OUT ?= out
PARALLEL := -n auto --dist loadfile

.PHONY: demo test coverage check lint types stubs check-stubs check-sanitizers bench reproduce wheel fuzz explorer clean help

help:
	@echo "make demo              set up and run the main job on data it makes itself"
	@echo "make test              set up, run all checks and all tests"
	@echo "make coverage          run all tests, and show which lines they reach"
	@echo "make check             ruff, mypy, C++ warnings, stubs"
	@echo "make bench             speed and memory against peers, side by side"
	@echo "make reproduce         the paper's tables and figures (hours; REPRODUCE_ARGS=--quick: minutes)"
	@echo "make fuzz              hostile inputs, and long randomised comparisons with the reference implementations"
	@echo "make check-sanitizers  the core's tests under AddressSanitizer and UBSan"
	@echo "make explorer          build the page of reports from its source (needs Node 20.19 or newer)"
	@echo "make wheel             build the wheel and try it in an empty environment"

# Installed once; touched again only when what they depend on changes.
.venv/.stamp-tools:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "clausewise needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(PIP) install "pip>=23.1" "scikit-build-core>=0.11" "nanobind>=2.7" cmake ninja
	@touch $@

.venv/.stamp-core: .venv/.stamp-tools $(CORE)
	$(PIP) install --no-build-isolation -C cmake.define.CLAUSEWISE_WERROR=ON -e .
	@touch $@

.venv/.stamp-dev: .venv/.stamp-tools $(CORE)
	$(PIP) install --no-build-isolation -C cmake.define.CLAUSEWISE_WERROR=ON -e ".[dev]"
	@touch .venv/.stamp-core $@

demo: .venv/.stamp-core
	@mkdir -p "$(OUT)"
	$(BIN)/python examples/demo.py "$(OUT)"

test: check
	$(BIN)/python -m pytest $(PARALLEL) $(PYTEST_ARGS)

# Which lines the tests reach; it takes half as long again as the tests alone.
coverage: .venv/.stamp-dev
	$(BIN)/python -m pytest $(PARALLEL) --cov --cov-report=term $(PYTEST_ARGS)

check: lint types check-stubs

lint: .venv/.stamp-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CORE_FILES)

types: .venv/.stamp-dev
	$(BIN)/python -m mypy

stubs: .venv/.stamp-dev
	$(BIN)/python tools/stubs.py --write

check-stubs: .venv/.stamp-dev
	$(BIN)/python tools/stubs.py

check-sanitizers: .venv/.stamp-dev
	tools/check_sanitizers.sh

bench: .venv/.stamp-dev
	$(BIN)/python -m benchmarks

# Goes on where it was stopped; docs/reproduction.md says what REPRODUCE_ARGS may be.
reproduce: .venv/.stamp-dev
	$(BIN)/clausewise-experiments run --out "$(OUT)/experiments" $(REPRODUCE_ARGS)

# Hostile inputs for all that comes from outside, new inputs for the property tests, and the long comparisons
# that `make test` leaves out. atheris adds inputs that coverage led to, where it can be installed.
fuzz: .venv/.stamp-dev
	-$(PIP) install "atheris>=3.0"
	$(BIN)/python -m tests.fuzz $(FUZZ_ARGS)
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest tests/rules tests/io tests/induction/test_matrix.py $(PYTEST_ARGS)
	$(BIN)/python -m pytest tests -m fuzz $(PYTEST_ARGS)

wheel: .venv/.stamp-dev
	tools/check_wheel.sh

# The built page is committed, so that users need no Node; a test compares it with its source.
explorer:
	cd explorer && npm ci --no-audit --no-fund && npm run build

clean:
	rm -rf explorer/node_modules .venv build dist out .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

# make demo   set up and run the main job       make test   set up, check and run all tests
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
CORE_FILES := $(shell find core -name '*.hpp' -o -name '*.cpp')
CORE := pyproject.toml CMakeLists.txt $(CORE_FILES)
OUT ?= out
# Two processes more than there are cores: some wait for browsers, databases and clusters.
PARALLEL = -n $(shell $(BIN)/python -c 'import os; print(2 + os.cpu_count())') --dist loadfile --no-loadscope-reorder

.PHONY: demo test coverage mutate check lint lint-workflows types stubs check-stubs check-sanitizers check-threads bench profile reproduce wheel fuzz explorer pictures figures docs clean help

help:
	@echo "make demo              set up and run the main job on generated data"
	@echo "make test              set up, run all checks and all tests"
	@echo "make coverage          run all tests and list the lines that they do not reach"
	@echo "make check             ruff, clang-format, codespell, workflow files, mypy, C++ warnings, stubs"
	@echo "make bench             compare speed and memory with other packages"
	@echo "make profile           build the core with symbols and frame pointers, for perf and callgrind"
	@echo "make reproduce         reproduce the paper's tables and figures (hours; REPRODUCE_ARGS=--quick: minutes)"
	@echo "make fuzz              hostile inputs and long randomised comparisons with reference implementations"
	@echo "make mutate            change the package in small ways and list the changes that no test notices"
	@echo "make check-sanitizers  run the core's tests under AddressSanitizer and UBSan"
	@echo "make check-threads     run the core's tests with threads under ThreadSanitizer"
	@echo "make pictures          photograph the report page for the README (needs Chromium)"
	@echo "make figures           draw the figures of the README and the documentation"
	@echo "make docs              run the examples and build the documentation as a site in out/site"
	@echo "make explorer          build the report page from its TypeScript source (needs Node 20.19 or newer)"
	@echo "make wheel             build the source distribution and the wheels, and test them in empty environments"

# Installed once, and again only when a file listed here changes. PySpark is built from source, by setuptools.
.venv/.stamp-tools:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "clausewise needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(PIP) install "pip>=23.1" "scikit-build-core>=0.11" "nanobind>=2.7" cmake ninja "setuptools>=77"
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

# Takes about 1.5 times as long as the tests alone.
coverage: .venv/.stamp-dev
	$(BIN)/python -m pytest $(PARALLEL) --cov --cov-report=term $(PYTEST_ARGS)

check: lint lint-workflows types check-stubs

lint: .venv/.stamp-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/clang-format --dry-run --Werror $(CORE_FILES)
	$(BIN)/codespell

# Workflows, issue forms and CITATION.cff.
lint-workflows: .venv/.stamp-dev
	$(BIN)/python tools/lint_workflows.py

types: .venv/.stamp-dev
	$(BIN)/python -m mypy

stubs: .venv/.stamp-dev
	$(BIN)/python tools/stubs.py --write

check-stubs: .venv/.stamp-dev
	$(BIN)/python tools/stubs.py

check-sanitizers: .venv/.stamp-dev
	tools/check_sanitizers.sh memory

check-threads: .venv/.stamp-dev
	tools/check_sanitizers.sh threads

pictures: .venv/.stamp-dev
	$(BIN)/python tools/pictures.py

figures: .venv/.stamp-dev
	$(BIN)/python tools/figures.py

# The packages are installed first; the build itself needs no network. Warnings, such as a dead link, are errors.
.venv/.stamp-docs: .venv/.stamp-tools $(CORE)
	$(PIP) install --no-build-isolation -C cmake.define.CLAUSEWISE_WERROR=ON -e ".[dev,docs]"
	@touch .venv/.stamp-core .venv/.stamp-dev $@

docs: .venv/.stamp-docs
	$(BIN)/python tools/gallery.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

bench: .venv/.stamp-dev
	$(BIN)/python -m benchmarks

# As fast as the usual build, which the next `make` after a change, or `make -B .venv/.stamp-dev`, brings back.
profile: .venv/.stamp-dev
	$(PIP) install --no-build-isolation --no-deps -C cmake.build-type=RelWithDebInfo -C build-dir=build/profile -e .

# Resumes where it was stopped; docs/reproduction.md lists what REPRODUCE_ARGS may contain.
reproduce: .venv/.stamp-dev
	$(BIN)/clausewise-experiments run --out "$(OUT)/experiments" $(REPRODUCE_ARGS)

# Hostile inputs for every reader of external data, new inputs for the property tests, and the long
# comparisons that `make test` leaves out. Where atheris can be installed, it adds coverage-guided inputs.
fuzz: .venv/.stamp-dev
	-$(PIP) install "atheris>=3.0"
	$(BIN)/python -m tests.fuzz $(FUZZ_ARGS)
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest tests/rules tests/io tests/induction/test_matrix.py $(PYTEST_ARGS)
	$(BIN)/python -m pytest tests -m fuzz $(PYTEST_ARGS)

# Resumes where it was stopped; MUTATE_ARGS="--sample 40 --folders rules io" is quicker.
mutate: .venv/.stamp-dev
	$(BIN)/python -m tools.mutation $(MUTATE_ARGS)

# WHEEL_PYTHONS="python3.12 python3.13": the wheels are built for these, and tested with each.
wheel: .venv/.stamp-tools
	tools/check_wheel.sh $(WHEEL_PYTHONS)

# The built page is committed so that users do not need Node; a test compares it with its source.
explorer:
	cd explorer && npm ci --no-audit --no-fund && npm run build

clean:
	rm -rf explorer/node_modules .venv build dist out .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis

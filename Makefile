# make demo and make test need Python >= 3.11, a C++20 compiler and make; all else is set up in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := CMakeLists.txt $(shell find native -type f 2>/dev/null)
JOBS   ?= auto
# Python compiles what it imports; to compile all of scipy and scikit-learn would take longer than the demo.
PIP     = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# Each process would compile modules and tests anew where the environment forbids writing compiled files.
PYTEST  = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses=$(JOBS) --dist=worksteal
FUZZ   ?= --seconds 120
SOAK   ?= --minutes 20
KILLS  ?= 3
TESTS  ?= tests

.PHONY: demo test wheel ecosystem browser engines clusters quick long lowest fuzz soak check format docs site papers bench \
	bench-counts bench-page sanitize clean
.DELETE_ON_ERROR:

demo: $(VENV)/.built $(VENV)/.report
	$(BIN)/rankwright demo

test: $(VENV)/.dev $(VENV)/.built
	$(PYTEST)

# The inner loop: few examples, no slow test, no page of the documentation.
quick: $(VENV)/.dev $(VENV)/.built
	$(PYTEST) -m "not slow and not clusters" --hypothesis-profile=quick tests

# What would make the ordinary run too long: the papers' quick versions, simulations, runs that are killed.
long: $(VENV)/.dev $(VENV)/.built
	$(PYTEST) -m long tests

# The quick tests with the lowest versions that pyproject.toml declares; what those warn of is their own affair.
# A new environment each time: uv keeps any version that satisfies a bound, and its build of an older source.
lowest: BIN := $(VENV)-lowest/bin
lowest:
	$(PYTHON) -m venv --clear $(VENV)-lowest
	$(PIP) uv
	$(BIN)/uv pip install --quiet --python $(BIN)/python --resolution lowest-direct --refresh-package rankwright \
		--only-binary :all: --no-binary rankwright --group test .
	$(PYTEST) -m "not slow and not long" -W default --hypothesis-profile=quick \
		$(addprefix tests/,analyses auto base cards cli crossval data ensembling evaluation interop metrics models rankers \
		reports serve statistics text training tuning)

# A wheel as PyPI has it, made from the sdist: repaired for other Linux systems, audited, and tried in empty environments
# without a compiler. With Python 3.12 or newer (PYTHON=python3.12) it is for that version and all later ones.
wheel: BIN := $(VENV)-wheel/bin
wheel:
	$(PYTHON) -m venv --clear $(VENV)-wheel
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --group wheel
	rm -rf dist
	$(BIN)/python -m build --outdir dist/built .
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist dist/built/*.whl
	mv dist/built/*.tar.gz dist
	case $$(ls dist) in *abi3*) $(BIN)/abi3audit --strict --verbose dist/*.whl;; esac
	$(BIN)/python tests/wheel/try_wheel.py dist/*.whl

# Tools that models and results live in, at their current versions, in an environment of its own: MLflow with a tracking
# server, data frames of six libraries, PyTerrier, ir_measures, ranx, Optuna's dashboard.
ecosystem: BIN := $(VENV)-ecosystem/bin
ecosystem:
	$(PYTHON) -m venv $(VENV)-ecosystem
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --upgrade --group ecosystem
	$(PIP) .
	$(BIN)/python -m pytest -W default -p no:cacheprovider tests/ecosystem

# Pages in a browser: chromium and playwright are installed first, if they can be.
browser: $(VENV)/.dev $(VENV)/.built
	PYTHON=$(BIN)/python tests/browser/install.sh
	$(PYTEST) tests/browser

# Our models in the search engines themselves, and theirs in ours; needs a JDK (17) and Maven Central, or the mirror that
# MAVEN_REPOSITORY names. What is missing is skipped and named. The table goes into docs/interop.md.
engines: $(VENV)/.dev $(VENV)/.built
	$(BIN)/python -m benchmarks.parity --write

# Workers on Ray and on Dask, and scores on Spark, on this machine, in an environment of its own: each engine starts its
# cluster, of which processes are killed and stopped (KILLS=30 on each engine). Spark needs a JDK (17).
clusters: BIN := $(VENV)-clusters/bin
clusters:
	$(PYTHON) -m venv $(VENV)-clusters
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --upgrade --group clusters
	$(PIP) .
	KILLS=$(KILLS) $(BIN)/python -m pytest -p no:cacheprovider -m clusters tests/distributed tests/test_spark.py

# Other examples in every run, and many: the property tests, then damaged files and wrong calls of the bindings.
fuzz: $(VENV)/.dev $(VENV)/.built
	$(PYTEST) -m hypothesis --hypothesis-profile=thorough tests
	PYTHONPATH=tests $(BIN)/python -m fuzz $(FUZZ)

# A service for 20 minutes under load, with changed and broken files, malformed requests and bad clients.
soak: $(VENV)/.dev $(VENV)/.built
	$(BIN)/python tests/serve/soak.py $(SOAK)

check: $(VENV)/.dev $(VENV)/.built
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror $(shell find native -name '*.[ch]pp')
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(shell find native -name '*.[ch]pp')

# The tables of options in the pages and the list of public names, as the source declares them.
docs: $(VENV)/.built
	$(BIN)/python docs/tables.py
	$(BIN)/python docs/site/api.py

# The documentation site, in build/site: examples and notebooks are executed, warnings and dead links are errors.
site: $(VENV)/.site
	$(BIN)/python docs/site/pages.py build/site-source
	$(BIN)/python docs/site/notebooks.py build/site-source/notebooks
	rm -rf build/site
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -c docs/site build/site-source build/site
	$(BIN)/python docs/site/links.py build/site

# All experiments of the papers, on collections of LETOR in DATA, and the pages made from them; takes more than an hour.
papers: $(VENV)/.dev $(VENV)/.built
	$(BIN)/python docs/papers.py --data $(DATA) $(if $(CRANFIELD),--cranfield $(CRANFIELD)) $(PAPERS)

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# Speed and accuracy beside other libraries, added to benchmarks/tracked.json and docs/tracked.md; DATA names a folder
# with collections of LETOR for the accuracy.
bench-page: $(VENV)/.bench
	$(BIN)/python -m benchmarks.tracked --write $(if $(DATA),--data $(DATA))

# Instructions of kernels and small fits beside those that were last accepted; needs valgrind.
bench-counts: $(VENV)/.built
	$(BIN)/python -m benchmarks.counts $(COUNTS)

SANITIZED = LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 PYTHONPATH=$(CURDIR)/build/sanitize:$(CURDIR)/tests \
	PYTHONMALLOC=malloc $(CURDIR)/$(VENV)-sanitize/bin/python

# The tests and wrong calls of the bindings, on a core built with the address and undefined-behaviour sanitizers.
# pytrec_eval frees with the wrong operator what it made with new[], which is not our mistake; pytest must not swallow
# what a sanitizer says as it ends the process.
sanitize: $(VENV)/.dev $(VENV)/.built
	$(PIP) --no-build-isolation --no-deps --upgrade --target build/sanitize \
		--config-settings=cmake.define.RANKWRIGHT_SANITIZE=ON --config-settings=build-dir=build/sanitize-cmake .
	$(PYTHON) -m venv --without-pip $(VENV)-sanitize
	$(BIN)/python -c "import site; print(site.getsitepackages()[0])" \
		> $$($(VENV)-sanitize/bin/python -c "import site; print(site.getsitepackages()[0])")/packages.pth
	$(SANITIZED) -m pytest -q -p no:cacheprovider --capture=sys --numprocesses=$(JOBS) $(TESTS)
	$(SANITIZED) -m fuzz bindings $(FUZZ)

clean:
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-sanitize $(VENV)-wheel $(VENV)-ecosystem $(VENV)-clusters build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Each stamp stands for a finished step, so that a second run repeats nothing that has not changed.
$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'rankwright needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)

# The group "build", as pip reads groups only from version 25.1 on and a new pip would be one more download.
$(VENV)/.tools: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -c "import tomllib; groups = tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']; \
		print(*groups['build'], sep='\n')" > $(VENV)/build.txt
	$(PIP) --requirement $(VENV)/build.txt
	touch $@

$(VENV)/.built: $(VENV)/.tools $(NATIVE)
	$(PIP) --no-build-isolation --editable .
	touch $@

# The extra "report", for the page of the demo.
$(VENV)/.report: pyproject.toml | $(VENV)/.tools
	$(BIN)/python -c "import tomllib; extras = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
		print(*extras['optional-dependencies']['report'], sep='\n')" > $(VENV)/report.txt
	$(PIP) --requirement $(VENV)/report.txt
	touch $@

$(VENV)/.dev: $(VENV)/.tools
	$(PIP) --upgrade "pip>=25.1"
	$(PIP) --group dev
	touch $@

$(VENV)/.site: $(VENV)/.dev $(VENV)/.built
	$(PIP) --group site
	touch $@

$(VENV)/.bench: $(VENV)/.dev $(VENV)/.built
	$(PIP) --group bench
	touch $@

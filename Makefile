# make demo and make test need Python >= 3.11, a C++20 compiler and make; all else is set up in .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
NATIVE := CMakeLists.txt $(shell find native -type f 2>/dev/null)

.PHONY: demo test check format bench sanitize clean
.DELETE_ON_ERROR:

demo: $(VENV)/.built
	$(BIN)/rankwright demo

test: $(VENV)/.built
	$(BIN)/python -m pytest

check: $(VENV)/.built
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/clang-format --dry-run --Werror $(shell find native -name '*.[ch]pp')
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.packages
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(shell find native -name '*.[ch]pp')

bench: $(VENV)/.bench
	$(BIN)/python -m benchmarks

# The tests again, on a core built with the address and undefined-behaviour sanitizers. pytrec_eval frees what it
# made with new[], which is no mistake of ours; pytest must not swallow what a sanitizer says as it ends the process.
sanitize: $(VENV)/.built
	$(BIN)/pip install --quiet --no-build-isolation --no-deps --upgrade --target build/sanitize \
		--config-settings=cmake.define.RANKWRIGHT_SANITIZE=ON --config-settings=build-dir=build/sanitize-cmake .
	$(PYTHON) -m venv --without-pip $(VENV)-sanitize
	$(BIN)/python -c "import site; print(site.getsitepackages()[0])" \
		> $$($(VENV)-sanitize/bin/python -c "import site; print(site.getsitepackages()[0])")/packages.pth
	LD_PRELOAD="$$($${CXX:-g++} -print-file-name=libasan.so) $$($${CXX:-g++} -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0:alloc_dealloc_mismatch=0 PYTHONPATH=build/sanitize PYTHONMALLOC=malloc \
		$(VENV)-sanitize/bin/python -m pytest -q -p no:cacheprovider --capture=sys tests

clean:
	rm -rf $(VENV) $(VENV)-sanitize build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Each stamp stands for a finished step, so that a second run repeats nothing that has not changed.
$(VENV)/bin/python:
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'rankwright needs Python 3.11 or newer')"
	$(PYTHON) -m venv $(VENV)

$(VENV)/.packages: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

$(VENV)/.built: $(VENV)/.packages $(NATIVE)
	$(BIN)/python -m pip install --quiet --no-build-isolation --editable .
	touch $@

$(VENV)/.bench: $(VENV)/.built
	$(BIN)/python -m pip install --quiet --group bench
	touch $@

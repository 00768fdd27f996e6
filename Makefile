# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# make demo           build everything and answer one real question with it
# make test           build and run the quick tests; tests/README.md says which tests each target runs
# make test-all       all tests, the longest proofs too
# make test-programs  tests that need servers, desktop programs, a browser or R; each allocator in turn
# make test-kernel    builds seven kernels, boots six of them twice and compares (half an hour or more once)
# make test-boot      boots a kernel twice and compares; builds it if a part of its build changed
# make stress         all workloads under all composed allocators, 24 CPU-minutes (resumable)
# make endurance      granary for a thousand million operations; ENDURANCE='--operations 1e10' for more
# make suites         the test suites of other software, with and without granary
# make test-builds    tests with long compilations; object tests with the second compiler and under sanitizers
# make coverage       which lines of both languages the unit tests reach; reports in build/coverage
# make peers          fetch and build the newest releases of other people's allocators
# make wheel          source distribution and wheel of the last commit, in build/release
# make deb            Debian packages of the last commit, in build/release
# make release        both, with checksums and a list of materials; equal commits give equal bytes
# make test-release   builds them, and installs, asks and removes each in a bare Debian
# make site           the documentation site, in build/site; open build/site/html/index.html
# make lint           formatters, linters, spelling, forbidden words and type checks; changes nothing
# make man            write the manual pages of the tool, for `man heapwright`
# make format         rewrite all files with the formatters
# make clean          remove what was built

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# The sources of the installed tool. A change in any of them installs it again.
SOURCES := $(shell find src include native apps workloads catalogue cmake -type f \
             -not -path '*/__pycache__/*') CMakeLists.txt tests/CMakeLists.txt pyproject.toml constraints.txt

# Headers of other projects. Each one that exists enables a part of the build, also if its package is
# installed later.
OPTIONAL := $(wildcard /usr/include/apr-1.0/apr_pools.h /usr/include/apache2/httpd.h /usr/include/lua5.4/lua.h \
              /usr/include/glib-2.0/glib.h /usr/include/sqlite3.h)
INSTALL := $(MAKE) --no-print-directory $(VENV)/installed-dev

.PHONY: always demo test test-all test-programs test-kernel test-boot stress endurance suites test-builds coverage peers wheel deb release test-release site man lint format clean unit
.DELETE_ON_ERROR:

demo:
	@PYTHON='$(PYTHON)' scripts/demo.sh

# Lists the optional headers found. The file changes only if the list changes, so make rebuilds only then.
build/optional: always
	@mkdir -p build
	@echo '$(OPTIONAL)' | cmp -s - $@ || echo '$(OPTIONAL)' >$@

# The tool in its own environment. The second form adds the packages of the tests and linters.
$(VENV)/installed: $(SOURCES) build/optional
	@PYTHON='$(PYTHON)' scripts/environment.sh && touch $@

$(VENV)/installed-dev: $(SOURCES) build/optional
	@PYTHON='$(PYTHON)' scripts/environment.sh dev && touch $(VENV)/installed $@

$(VENV)/installed-release: $(VENV)/installed
	@PYTHON='$(PYTHON)' scripts/environment.sh cluster,release && touch $@

test:
	@scripts/packages.sh peers test
	@$(INSTALL)
	@scripts/test.sh

test-all:
	@scripts/packages.sh peers test programs builds suites release
	@$(INSTALL)
	@$(MAKE) --no-print-directory $(VENV)/installed-release
	@scripts/test.sh all

test-programs:
	@scripts/packages.sh peers test programs
	@$(INSTALL)
	@scripts/test.sh programs

test-kernel:
	@scripts/packages.sh test kernel
	@$(INSTALL)
	@$(BIN)/heapwright kernel build
	@$(BIN)/python -m pytest -q -m slow tests/lab/kernel

test-boot:
	@scripts/packages.sh test kernel
	@$(INSTALL)
	@$(BIN)/python scripts/boot_kernel.py

stress: $(VENV)/installed
	@$(BIN)/python tests/acceptance/stress/stress.py $(STRESS)

endurance: $(VENV)/installed
	@$(BIN)/python tests/heaps/promises/endurance.py $(ENDURANCE)

suites:
	@scripts/packages.sh suites
	@$(MAKE) --no-print-directory $(VENV)/installed
	@$(BIN)/python -m tests.acceptance.suites.suites $(SUITES)

test-builds:
	@scripts/packages.sh peers test builds
	@$(INSTALL)
	@scripts/test.sh builds

coverage:
	@scripts/packages.sh peers test
	@$(INSTALL)
	@scripts/coverage.sh

peers: $(VENV)/installed
	@scripts/peers.sh

wheel: $(VENV)/installed-release
	@PYTHON=$(BIN)/python scripts/wheel.sh

deb: $(VENV)/installed-release
	@scripts/packages.sh release
	@PYTHON=$(BIN)/python scripts/deb.sh

release: $(VENV)/installed-release
	@scripts/packages.sh release
	@PYTHON=$(BIN)/python scripts/release.sh

test-release:
	@$(INSTALL)
	@HEAPWRIGHT_NO_SKIP=1 $(MAKE) --no-print-directory release
	@HEAPWRIGHT_NO_SKIP=1 HEAPWRIGHT_RELEASE=$(CURDIR)/build/release $(BIN)/python -m pytest -q -m slow --durations=10 tests/acceptance/release

site:
	@$(INSTALL)
	@scripts/site.sh build/site

# For a folder `bin` on the path, man(1) searches the folder `share/man` beside it.
man: $(VENV)/installed
	@$(BIN)/python -m heapwright.cli.manual $(VENV)/share/man

lint: $(VENV)/installed-dev
	@scripts/packages.sh lint
	@scripts/lint.sh

format: $(VENV)/installed-dev
	@scripts/lint.sh fix

clean:
	rm -rf build $(VENV) .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis

#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: lint.sh        formatters (checking only), linters and type checks
#        lint.sh quick  the same without types and clang-tidy, in seconds
#        lint.sh fix    the formatters rewrite the files
#
# All checks run before it fails. A missing tool is named and skipped. With HEAPWRIGHT_NO_SKIP set, it
# is a failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
mode=${1:-check}
failed=0

# tool NAME PACKAGE PROGRAM COMMAND ARG…: runs the command where its program is installed.
tool() {
    local name=$1 package=$2 program=$3
    shift 3
    if ! command -v "$program" >/dev/null; then
        if [ -n "${HEAPWRIGHT_NO_SKIP:-}" ]; then
            echo "lint: FAILED: no $name (package $package)" >&2
            failed=1
        else
            echo "lint: SKIPPED $name: not installed (package $package)"
        fi
        return
    fi
    echo "lint: $name"
    "$@" || failed=1
}

readarray -d '' cxx < <(git ls-files -z '*.hpp' '*.cpp' '*.c' '*.h' '*.hpp.in' '*.cpp.in')
readarray -d '' shell < <(git ls-files -z 'scripts/*.sh' 'packaging/*.sh' 'examples/*.sh' .ci/run \
    packaging/debian/tests ':!packaging/debian/tests/control')

if [ "$mode" = fix ]; then
    .venv/bin/clang-format -i "${cxx[@]}"
    .venv/bin/ruff format -q .
    .venv/bin/ruff check -q --fix .
    exit 0
fi

# The benchmarks are scripts that import their neighbours, so each folder is a path of its own. Two
# folders have a module `instructions`, so the second is checked apart. So are scripts and tests, which
# both have an `architecture`.
# shellcheck disable=SC2317 # `tool` calls it
type_check() {
    local status=0
    .venv/bin/mypy || status=1
    MYPYPATH=src:scripts .venv/bin/mypy --explicit-package-bases tests || status=1
    MYPYPATH=src:scripts .venv/bin/mypy --explicit-package-bases scripts || status=1
    MYPYPATH=src:benchmarks:benchmarks/hoard:benchmarks/calls \
        .venv/bin/mypy --explicit-package-bases --exclude benchmarks/httpd benchmarks || status=1
    MYPYPATH=src:benchmarks/httpd .venv/bin/mypy --explicit-package-bases benchmarks/httpd || status=1
    return "$status"
}

# All headers in one file, and the sources of some folders as the build compiles them. The others
# take more time than their findings are worth.
# shellcheck disable=SC2317 # `tool` calls it
tidy() {
    local status=0 headers=build/tidy/headers.cpp
    mkdir -p build/tidy
    git ls-files 'include/heapwright/*.hpp' | sed 's|include/\(.*\)|#include <\1>|' >"$headers"
    .venv/bin/clang-tidy --quiet "$headers" -- -std=c++20 -Iinclude -Inative 2>/dev/null || status=1
    git ls-files -z native/trace/'*.cpp' native/recorder/'*.cpp' |
        xargs -0 -n 4 -P "$(nproc)" .venv/bin/clang-tidy --quiet -p build/wheel \
            --extra-arg=-Wno-ignored-optimization-argument --extra-arg=-Wno-unknown-warning-option \
            --extra-arg=-Wno-deprecated-declarations \
            2>/dev/null || status=1
    return "$status"
}

# The settings are in pyproject.toml.
# shellcheck disable=SC2317 # `tool` calls it
spelling() { git ls-files -z | xargs -0 .venv/bin/codespell; }

tool clang-format 'clang-format of PyPI' .venv/bin/clang-format .venv/bin/clang-format --dry-run -Werror "${cxx[@]}"
tool shellcheck shellcheck shellcheck shellcheck -x "${shell[@]}"
tool 'ruff format' 'ruff of PyPI' .venv/bin/ruff .venv/bin/ruff format --check -q .
tool 'ruff check' 'ruff of PyPI' .venv/bin/ruff .venv/bin/ruff check -q .
tool codespell 'codespell of PyPI' .venv/bin/codespell spelling
tool words 'rich of PyPI' .venv/bin/python .venv/bin/python scripts/words.py
[ "$mode" = quick ] && exit $failed
# These two take longest, so they run at once.
printed=$(mktemp)
(
    tool clang-tidy 'clang-tidy of PyPI' .venv/bin/clang-tidy tidy
    exit $failed
) >"$printed" 2>&1 &
tool mypy 'mypy of PyPI' .venv/bin/mypy type_check
wait $! || failed=1
cat "$printed"
rm "$printed"
exit $failed

#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# lint.sh: formatters (checking only), linters and type checks; everything is looked at before it
# fails. lint.sh fix: let the formatters rewrite. A tool that is not there is named and passed over.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
mode=${1:-check}
failed=0

run() {
    echo "lint: $1"
    shift
    "$@" || failed=1
}

readarray -d '' cxx < <(git ls-files -z '*.hpp' '*.cpp' '*.c' '*.h' '*.hpp.in' '*.cpp.in')
readarray -d '' shell < <(git ls-files -z 'scripts/*.sh' .ci/run)
clang_format=.venv/bin/clang-format

if [ "$mode" = fix ]; then
    "$clang_format" -i "${cxx[@]}"
    .venv/bin/ruff format -q .
    .venv/bin/ruff check -q --fix .
    exit 0
fi

run clang-format "$clang_format" --dry-run -Werror "${cxx[@]}"
if command -v shellcheck >/dev/null; then
    run shellcheck shellcheck "${shell[@]}"
else
    echo "lint: no shellcheck, passed over (package shellcheck)"
fi
run 'ruff format' .venv/bin/ruff format --check -q .
run 'ruff check' .venv/bin/ruff check -q .
run mypy .venv/bin/mypy
exit $failed

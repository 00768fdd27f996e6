#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# environment.sh [EXTRA]: create .venv and install this tree into it, with the extras `pages`, `studies`
# and EXTRA of pyproject.toml. If a basic program is missing, names its package and exits with 3. Exits with 4 if
# the Python packages cannot be fetched or built.
set -euo pipefail
cd "$(dirname "$0")/.."
extra=${1:-}
python=${PYTHON:-python3}

missing() {
    echo "environment: $1" >&2
    echo "             On Debian or Ubuntu: apt-get install $2" >&2
    exit 3
}

command -v "$python" >/dev/null || missing "there is no $python" "python3 python3-venv"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    missing "$("$python" --version) is too old: 3.11 or newer is needed (PYTHON=… names another)" "python3"
command -v g++ >/dev/null || command -v "${CXX:-c++}" >/dev/null ||
    missing "there is no C++ compiler" "g++"

has() { "$python" -c "import $1" 2>/dev/null; }
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -c '' 2>/dev/null; then
    if ! has ensurepip && ! has pip; then
        scripts/packages.sh venv
    fi
    rm -rf .venv
    echo "environment: creating .venv"
    if has ensurepip; then
        "$python" -m venv .venv
    elif has pip && has venv; then
        "$python" -m venv --without-pip .venv
    else
        missing "this $python has neither venv with ensurepip nor pip" "python3-venv"
    fi
fi
if [ -x .venv/bin/pip ]; then
    pip=(.venv/bin/python -m pip)
else
    pip=("$python" -m pip --python .venv/bin/python)
fi

# The constraints also apply to the isolated environment of the build.
export PIP_CONSTRAINT="$PWD/constraints.txt" PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir -p build
log=build/pip.log
echo "environment: building and installing heapwright${extra:+ with the extras $extra} (log: $log)"
if ! "${pip[@]}" install --quiet --root-user-action=ignore ".[pages,studies${extra:+,$extra}]" >"$log" 2>&1; then
    tail -n 25 "$log" >&2
    if grep -qiE 'NewConnectionError|Temporary failure in name resolution|No matching distribution found|Connection.*(refused|reset|timed out)|ProxyError' "$log"; then
        echo "environment: pip could not fetch the Python packages; is there a network?" >&2
        echo "             Offline: fill a folder elsewhere with 'pip download -d DIR -r constraints.txt scikit-build-core'," >&2
        echo "             then PIP_NO_INDEX=1 PIP_FIND_LINKS=DIR make demo" >&2
    else
        echo "environment: the build failed; the whole log is in $log" >&2
    fi
    exit 4
fi

#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# Usage: install.sh FOLDER   installs this tree into a virtual environment, unless FOLDER has it already
#        install.sh --key    prints a digest of this tree and of the system, as a key for a cache
#
# For jobs and images, which build heapwright once and keep FOLDER. The build takes some minutes. It needs
# g++, python3 and, on Debian, python3-venv.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

key() {
    cd "$root"
    {
        find apps catalogue cmake include native src tests/CMakeLists.txt workloads \
            CMakeLists.txt constraints.txt pyproject.toml -type f ! -name '*.pyc' -print0 |
            LC_ALL=C sort -z | xargs -0 sha256sum
        cat /etc/os-release
        uname -m
        python3 --version
    } | sha256sum | cut -c -16
}

if [ "${1:-}" = --key ]; then
    key
    exit
fi
folder=${1:?install.sh: name the folder of the installation, or --key}
wanted=$(key)
if [ -f "$folder/heapwright-key" ] && [ "$(cat "$folder/heapwright-key")" = "$wanted" ]; then
    echo "install.sh: $folder has this version already"
    exit
fi
for program in g++ python3; do
    if ! command -v "$program" >/dev/null; then
        echo "install.sh: there is no $program; on Debian: apt-get install g++ python3 python3-venv" >&2
        exit 3
    fi
done
python3 -m venv --clear "$folder"
PIP_CONSTRAINT="$root/constraints.txt" PIP_DISABLE_PIP_VERSION_CHECK=1 \
    "$folder/bin/python" -m pip install --quiet --root-user-action=ignore "${root}[pages,studies]"
echo "$wanted" >"$folder/heapwright-key"

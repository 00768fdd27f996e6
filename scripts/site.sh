#!/usr/bin/env bash
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
#
# site.sh FOLDER [PYTHON]: build the documentation site into FOLDER/html. A dead link, a missing anchor
# or a page outside of the navigation is an error. PYTHON is the interpreter of .venv unless named.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
folder=${1:?usage: scripts/site.sh FOLDER [PYTHON]}
python=${2:-$root/.venv/bin/python}
mkdir -p "$folder"
PYTHONPATH="$root/scripts${PYTHONPATH:+:$PYTHONPATH}" "$python" -m documentation.assemble "$folder"
PYTHONPATH="$root/scripts${PYTHONPATH:+:$PYTHONPATH}" "$python" -m documentation.gallery "$folder"
# The variable silences an advertisement of Material.
NO_MKDOCS_2_WARNING=1 "$python" -m mkdocs build --quiet --strict --config-file "$folder/mkdocs.yml"
echo "site: $folder/html/index.html"

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Exits with 0 if what a server sends at an address is what is in a file."""

import sys
import urllib.request
from pathlib import Path

with urllib.request.urlopen(sys.argv[1], timeout=30) as answer:
    sys.exit(answer.read() != Path(sys.argv[2]).read_bytes())

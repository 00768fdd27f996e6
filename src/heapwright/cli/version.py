# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright --version`, answered without loading the command line."""

import sys
from typing import NoReturn

from heapwright import __version__
from heapwright.cli.process import leave_after


def print_version() -> None:
    sys.stdout.write(f"heapwright {__version__}\n")


def main() -> NoReturn:
    """Print the version."""
    leave_after(print_version)

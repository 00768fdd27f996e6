# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The command `heapwright`, also as `python -m heapwright`.

The command line is imported inside the guard: that takes a moment, and Ctrl-C may come in it. The
version needs none of it.
"""

import signal
import sys
from importlib import import_module

VERSION = ["--version"]


def main() -> None:
    """Run the command line and leave with its exit status."""
    asked = "version" if sys.argv[1:] == VERSION else "main"
    try:
        import_module(f"heapwright.cli.{asked}").main()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()

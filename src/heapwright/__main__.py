# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The command `heapwright`, also as `python -m heapwright`.

SIGTERM and SIGHUP end every verb as Ctrl-C does, so that no verb leaves a half-written file. The
command line is imported inside the guard: that takes a moment, and a signal may come in it. The
version needs none of it.
"""

import signal
import sys
from importlib import import_module

from heapwright.base.interruption import ended_as_interrupted

VERSION = ["--version"]


def main() -> None:
    """Run the command line and leave with its exit status."""
    asked = "version" if sys.argv[1:] == VERSION else "main"
    try:
        with ended_as_interrupted():
            import_module(f"heapwright.cli.{asked}").main()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()

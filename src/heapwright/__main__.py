# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The command `heapwright`, also as `python -m heapwright`.

The command line is imported inside the guard: that takes a moment, and Ctrl-C may come in it.
"""

import signal
import sys


def main() -> None:
    """Run the command line and leave with its exit status."""
    try:
        from heapwright.cli.main import main as command  # noqa: PLC0415

        command()
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)


if __name__ == "__main__":
    main()

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Print the composed allocators of a catalogue, one NAME|HEADER|TYPE|ENTRY_POINTS a line.

Standard library only: scripts/allocators-alone.sh runs it without the tool's environment.
"""

import sys
import tomllib
from pathlib import Path


def main(path: str) -> int:
    catalogue = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    for entry in catalogue["composed"]:
        more = ",".join(entry.get("entry_points", []))
        print(entry["name"], entry["header"], entry["type"], more, sep="|")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

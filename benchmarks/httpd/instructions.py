# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions that the distribution's httpd needs for a request, by the library of its pools.

Callgrind counts in the processes that answer. One server gets a number of requests on a kept
connection, and another one a few hundred more. The difference, divided by these requests, is the
cost of one request outside the kernel. Other load on the machine does not affect it, and results
repeat to a few in a thousand. Needs valgrind, httpd and ab, and the installed tool. Exit status 1
if reaps need more than 3 % more than the stock pools anywhere."""

import argparse
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

from server import Pools, ask, missing, serving

PAGES = {"a file": "small.txt", "included": "page.shtml", "a listing": "many/"}
WARM = 200
LIMIT = 1.03


def instructions(pools: Pools, page: str, requests: int) -> int:
    """Of all processes that answer, from their start to their end."""
    with tempfile.TemporaryDirectory(prefix="heapwright-counts-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o777)  # for the user that the server changes to if root starts it
        counts = folder / "counts.%p"
        words = ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={counts}"]
        with serving(pools, wrapped=words) as server:
            children = server.children()
            ask(server, page, requests=requests, connections=1)
        texts = [(folder / f"counts.{child}").read_text() for child in children]
        return sum(
            int(found[1])
            for text in texts
            for found in re.finditer(r"^totals: (\d+)$", text, re.MULTILINE)
        )


def for_a_request(pools: Pools, page: str, requests: int) -> float:
    few = instructions(pools, page, WARM)
    return (instructions(pools, page, WARM + requests) - few) / requests


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--requests", type=int, default=1000, help="counted of each page")
    parser.add_argument("--pools", choices=[*Pools], action="append", help="only these")
    parser.add_argument("--page", choices=[*PAGES], action="append", help="only these")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    arguments = parser.parse_args()
    lacking = missing() or (None if shutil.which("valgrind") else "valgrind is not installed")
    if lacking is not None:
        parser.error(lacking)
    chosen = [Pools(each) for each in arguments.pools or Pools]
    found = {
        name: {str(each): for_a_request(each, PAGES[name], arguments.requests) for each in chosen}
        for name in arguments.page or PAGES
    }
    if arguments.json:
        print(json.dumps(found))
    else:
        print(f"{'page':<12}" + "".join(f"{each:>12}" for each in chosen))
        for name, row in found.items():
            print(f"{name:<12}" + "".join(f"{row[each]:12.0f}" for each in chosen))
    both = {Pools.STOCK, Pools.REAP} <= set(chosen)
    return int(both and any(row["reap"] > LIMIT * row["stock"] for row in found.values()))


if __name__ == "__main__":
    sys.exit(main())

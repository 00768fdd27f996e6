# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The published demonstration: memory of httpd's calculator for the 1000th prime, by single frees.

    python benchmarks/httpd/thousandth_prime.py
    python benchmarks/httpd/thousandth_prime.py --bc FOLDER/mod_bc.so

With `--bc` GNU bc takes the place of this project's calculator, as a module that
benchmarks/httpd/bc/build.sh has built.
Each figure is of a server that was started for it and had answered one small sum. It counts pages
of the child that answers, new since the request began and before its pool ended. Exit status 1 if
single frees do not save nine tenths. Prints Markdown.
"""

import argparse
import json
import os
import sys
from pathlib import Path

from server import SCRIPT, Pools, calculator, fetch, missing, serving

PRIMES = SCRIPT.parent / "primes.bc"


def grown(pools: Pools, way: str, handler: str = "calculator") -> int:
    """Bytes that one request needs."""
    with serving(pools) as server:
        fetch(server, handler, b"1\n")
        status, body = fetch(server, f"{handler}/{way}", PRIMES.read_bytes())
    prime, told = body.decode().splitlines()
    if status != 200 or prime != "7919":
        raise SystemExit(f"{status}: {body!r}")
    return int(json.loads(told)["memory_grown"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bc", type=Path, metavar="MODULE", help="GNU bc as a module")
    arguments = parser.parse_args()
    handler = "calculator" if arguments.bc is None else "bc"
    if reason := missing():
        raise SystemExit(reason)
    if arguments.bc is not None:
        os.environ["HTTPD_BC"] = str(arguments.bc.resolve(strict=True))
    elif not calculator().is_file():
        raise SystemExit("the calculator's module was not built (package apache2-dev)")
    print("| pools | without single frees | with them | times |\n|---|--:|--:|--:|")
    least = float("inf")
    for pools in Pools:
        kept = grown(pools, "keep", handler)
        if pools is Pools.STOCK:
            print(f"| {pools} | {kept // 1024:,} KiB | none | |")
            continue
        freed = max(grown(pools, "account", handler), 4096)
        least = min(least, kept / freed)
        print(f"| {pools} | {kept // 1024:,} KiB | {freed // 1024:,} KiB | {kept / freed:.0f} |")
    sys.exit(least < 10)


if __name__ == "__main__":
    main()

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Real software's own test suites under an allocator of this project.

    python -m tests.acceptance.suites.suites [--allocator NAME] [--folder DIR] [SUITE…]

Each suite runs once as it is and once under the allocator. What fails under the allocator alone is
run again by itself, under both, and counts if it fails again under the allocator alone. Sources
come from the distribution and stay in the folder. Leaves with 1 if there is such a difference.
"""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from .cpython import CPython
from .redis import Redis
from .sqlite import SQLite
from .suite import MissingError, Ran, Suite, run

SUITES: dict[str, Suite] = {suite.name: suite for suite in (CPython(), SQLite(), Redis())}


@dataclass(frozen=True)
class Difference:
    """What a suite came to on its own malloc and under the allocator."""

    own: Ran
    under: Ran
    only_under: frozenset[str]


def compare(suite: Suite, allocator: str, folder: Path) -> Difference:
    own = run(suite, None, folder)
    _say(own)
    under = run(suite, allocator, folder)
    _say(under)
    only = under.faults - own.faults
    again = sorted(name for name in only if not name.startswith("("))
    if again:
        print(f"{suite.name}: once more, by themselves: {' '.join(again)}", flush=True)
        # A suite that then has no test by such a name runs whole: what failed is what counts.
        second = run(suite, allocator, folder, again)
        other = run(suite, None, folder, again)
        only = (only - set(again)) | ((only & second.faults) - other.faults)
    return Difference(own, under, only)


def _say(ran: Ran) -> None:
    failed = ", ".join(sorted(ran.faults)) or "none"
    print(
        f"{ran.suite} under {ran.allocator}: {ran.ran} run in {ran.seconds:.0f} s;"
        f" failed: {failed}",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--allocator", default="granary")
    parser.add_argument("--folder", type=Path, default=Path("build/suites"))
    parser.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    given = parser.parse_args()
    folder = given.folder.resolve()
    worst = 0
    for name in given.suites or SUITES:
        suite = SUITES[name]
        try:
            suite.prepare(folder)
        except MissingError as missing:
            print(f"{name}: SKIPPED: {missing}")
            continue
        found = compare(suite, given.allocator, folder)
        print(f"{name}: {'no difference' if not found.only_under else 'DIFFERENT'}", end="")
        print("".join(f"\n    {each}" for each in sorted(found.only_under)), flush=True)
        worst = 1 if found.only_under else worst
    return worst


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Prints the README of an agreement of rankings: method, means, and one line for each program.

    heapwright agree --all --scale small --whole --keep answers --json agreement.json
    gzip -9n agreement.json
    python scripts/agreement_page.py agreement.json.gz > docs/results/agreement/README.md

Run it with the environment that has the tool. It computes nothing: every figure is in the document.
"""

import gzip
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from heapwright.artefacts.agreement.document import ProgramAgreement, RankingAgreement
from heapwright.artefacts.program.library import REFERENCE, program_names
from heapwright.report.agreement import WHATS, cells, conclusions, headings


def page(found: RankingAgreement, every: Sequence[str]) -> str:
    """The whole page; `every` has all programs."""
    parts = ["# Agreement of rankings", _about(found), "\n".join(_means(found))]
    asked = [each for each in found.programs if each.agreements]
    for what in WHATS:
        parts += [
            f"## Ranks by {what}",
            "Kendall's tau-b with the ranking on the program; `itself` is the program asked twice.",
            _table(headings(), (cells(each, what) for each in asked)),
        ]
    missing = list(_missing(found.programs, every))
    if missing:
        parts += ["## Not asked, or not of all", "\n".join(missing)]
    return "\n\n".join(parts) + "\n"


def _about(found: RankingAgreement) -> str:
    scale = f" --scale {found.scale}" if found.scale else ""
    names = ",".join(found.allocators)
    gaps = "" if found.surroundings.gaps == "none" else f" --gaps {found.surroundings.gaps}"
    visits = f" --visits {found.surroundings.visits:g}" if found.surroundings.visits else ""
    whole = " --whole" if found.surroundings.whole else ""
    return "\n".join(
        [
            "```sh",
            f"heapwright agree --all{scale} -a {names} -n {found.blocks} --seed {found.seed}"
            f"{gaps}{visits}{whole} --json agreement.json",
            "gzip -9n agreement.json",
            "python scripts/agreement_page.py agreement.json.gz   # this page",
            "```",
            "",
            "The document with every figure: [agreement.json.gz](agreement.json.gz).",
        ]
    )


def _means(found: RankingAgreement) -> Iterator[str]:
    for line in conclusions(found):
        yield f"- {line}"


def _missing(programs: Sequence[ProgramAgreement], every: Sequence[str]) -> Iterator[str]:
    for each in programs:
        if each.why:
            yield f"- {each.program}: {' '.join(each.why.split())}"
    names = {each.program for each in programs}
    left = [name for name in every if name not in names and name != REFERENCE]
    if left:
        yield f"- not begun, for want of time: {', '.join(left)}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    def line(words: Sequence[str]) -> str:
        return f"| {' | '.join(word.replace('|', chr(92) + '|') for word in words)} |"

    return "\n".join([line(heads), "|" + "---|" * len(heads), *map(line, rows)])


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        sys.stderr.write("usage: agreement_page.py agreement.json.gz\n")
        return 2
    found = RankingAgreement.from_json(gzip.decompress(Path(arguments[0]).read_bytes()))
    sys.stdout.write(page(found, program_names()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

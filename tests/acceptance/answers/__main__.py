# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Asks `heapwright explain` about the programs with a known truth, and prints the confusion matrix.

    python -m tests.acceptance.answers [FILE.csv] [-k WORDS] [--keep FOLDER] [--jobs N]
    python -m tests.acceptance.answers --page

The results go to FILE.csv. `--page` prints the page of the committed results.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .answer import ask, read_answer
from .cases import Builder, Case, MissingError, read_cases
from .judge import Verdict, judge
from .page import Result, as_csv, confusion, counts, from_csv, page, result_of

RESULTS = Path(__file__).parents[3] / "docs" / "results" / "explain"
VERSIONS = {"0.1.0": "answers-0.1.0.csv", "now": "answers.csv"}


def committed_page() -> str:
    """The page of the committed results."""
    kept = {name: from_csv((RESULTS / file).read_text("utf-8")) for name, file in VERSIONS.items()}
    return page(read_cases(), kept)


def asked(case: Case, builder: Builder, keep: Path | None) -> Result | None:
    """The result of one case; None where a program for it is missing."""
    kept = None if keep is None else keep / f"{case.name.replace(' ', '.')}.json"
    try:
        if kept is not None and kept.exists():
            answer = read_answer(json.loads(kept.read_text("utf-8")))
        else:
            answer = ask(case, builder)
    except MissingError as error:
        print(f"{case.name}: left out: {error}", file=sys.stderr)
        return None
    judged = judge(case, answer)
    result = result_of(case, answer, judged)
    bad = judged.verdict is not Verdict.RIGHT or "wrong" in {result.culprit, result.rate}
    if bad:
        words = f"{result.verdict}, culprit {result.culprit}, rate {result.rate}: {result.why}"
        print(f"{case.name}: {words}\n    {answer.sentence}", file=sys.stderr)
    if kept is not None:
        kept.write_text(json.dumps(dict(answer.document), indent=1), encoding="utf-8")
    return result


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.acceptance.answers", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="the results, as CSV")
    parser.add_argument("-k", default="", help="ask only about cases whose name has this in it")
    parser.add_argument(
        "--keep",
        type=Path,
        help="a folder for the documents; none that is there is asked for again",
    )
    parser.add_argument("--jobs", type=int, default=2, help="how many programs run at once")
    parser.add_argument("--page", action="store_true", help="print the page and run nothing")
    options = parser.parse_args(words)
    if options.page:
        sys.stdout.write(committed_page())
        return 0
    cases = [each for each in read_cases() if options.k in each.name]
    with (
        tempfile.TemporaryDirectory(prefix="heapwright-answers-") as folder,
        ThreadPoolExecutor(options.jobs) as pool,
    ):
        builder = Builder(Path(folder))
        for case in cases:  # compiled before the first one runs
            try:
                builder.command(case)
            except MissingError as error:
                print(f"{case.name}: {error}", file=sys.stderr)
        found = list(pool.map(lambda case: asked(case, builder, options.keep), cases))
    results = [each for each in found if each is not None]
    print(confusion(results))
    print(", ".join(f"{number} {name}" for name, number in counts(results).items()))
    if options.file is not None:
        options.file.write_text(as_csv(results), encoding="utf-8")
    return int(any(each.verdict == Verdict.WRONG for each in results))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A search of `heapwright tailor` for each program of the catalogue, judged on an unseen input.

    python3 benchmarks/tailored_programs.py [--budget MINUTES] [--keep FOLDER] SEARCHES [PROGRAM…]

SEARCHES has the folder of each search, with its output and its messages. The same command continues
an interrupted campaign: complete searches are not made again, and an interrupted one goes on after
its last complete stage. A failed search is an outcome, and `--again` repeats it. KEEP has what is
published: campaign.json, and of each program the answer and the runs of the judgement. Then
`python scripts/tailored_programs_page.py` writes the page.
"""

import argparse
import gzip
import io
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.program.library import preloadable_names
from heapwright.artefacts.tailoring.document import Tailoring
from heapwright.base.errors import ExitCode
from heapwright.base.interruption import ENDING, handled
from heapwright.report.runs_csv import write_runs

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs/results/tailored-programs"
SCALE = "small"
UNSEEN = {
    "abc": ("seed=2",),
    "clang": ("seed=2", "classes=12"),
    "codeblocks": ("seed=2",),
    "fzf": ("seed=2",),
    "gawk": ("rounds=4",),
    "ghostscript": ("pages=5",),
    "git": ("seed=2",),
    "gpp": ("seed=2", "classes=12"),
    "inkscape": ("seed=2",),
    "lighttpd": ("seed=2", "bytes=30000"),
    "lynx": ("seed=2",),
    "mariadb-mixed": ("seed=2", "transactions=12000"),
    "mariadb-read-only": ("seed=2", "transactions=2500"),
    "mariadb-shop": ("films=400", "customers=300"),
    "memcached": ("operations=120000", "clients=24"),
    "nginx": ("seed=2", "bytes=30000"),
    "node": ("rounds=5",),
    "octave": ("order=60",),
    "perl": ("rounds=3",),
    "postgresql": ("seed=2", "transactions=600"),
    "python": ("rounds=4",),
    "redis": ("bytes=300", "keys=12000"),
    "rhino": ("rounds=5",),
    "ripgrep": ("seed=2",),
    "sqlite": ("seed=2", "rows=6000"),
    "vlc-audio": ("seconds=4",),
    "vlc-video": ("seconds=4",),
    "xz": ("seed=2",),
}
"""The parameters that make the unseen input of each program another one."""
SLACK_S = 900.0
"""Beyond three times the budget: the budget does not limit the proof, nor the least judgement."""
ENDING_S = 60.0
"""For the end of an interrupted search."""
LOOK_S = 0.5
"""Between looks for a signal."""
COMMAND = (sys.executable, "-m", "heapwright")
TOLD = 200
"""Characters of the message of a failed search."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One search; `campaign.json` has a list of them."""

    program: str
    unseen: tuple[str, ...]
    """The changed parameters."""
    budget_min: float
    began: str
    """The last attempt: UTC, ISO 8601."""
    seconds: float
    """Of all attempts, also of those that were interrupted or failed."""
    status: int | None
    """The exit status; None: it was stopped after the limit."""
    why: str
    """The message of a search that failed."""
    load: tuple[float, float]
    """Mean number of runnable processes in the minute before the search, and in its last minute."""


def words_of(name: str, budget_min: float) -> tuple[str, ...]:
    """The command of a search. It runs in the folder of the searches, so that no document has
    the path of this machine."""
    unseen = shlex.join(word for each in UNSEEN[name] for word in ("-p", each))
    words = ["tailor", "--program", name, "--scale", SCALE, "--unseen", unseen, "--seed", "1"]
    return (*words, "--budget", f"{budget_min:g}", "-o", name, "--json", f"{name}.json")


def outcomes(keep: Path) -> dict[str, Outcome]:
    """The searches of earlier calls, by program."""
    try:
        texts = json.loads((keep / "campaign.json").read_text("utf-8"))
    except FileNotFoundError:
        return {}
    found = (Outcome(**each) for each in texts)
    return {each.program: each for each in found}


def write_outcomes(keep: Path, found: Mapping[str, Outcome]) -> None:
    beside = keep / ".campaign.json"
    kept = [asdict(found[name]) for name in sorted(found)]
    beside.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")
    beside.replace(keep / "campaign.json")


def is_over(outcome: Outcome | None, *, again: bool) -> bool:
    """Whether the program has its answer, or a failure that is not to be tried again."""
    if outcome is None or outcome.status == ExitCode.INTERRUPTED:
        return False
    return outcome.status == ExitCode.OK or not again


def search(
    name: str, folder: Path, budget_min: float, before_s: float, signals: Sequence[int] = ()
) -> Outcome:
    """Run one search to its end. It is interrupted once `signals` has one, and leaves what it
    has."""
    words = [*COMMAND, *words_of(name, budget_min)]
    began, load, begun = (
        datetime.now(UTC).isoformat("T", "seconds"),
        os.getloadavg()[0],
        monotonic(),
    )
    output, messages = folder / f"{name}.txt", folder / f"{name}.log"
    with output.open("w") as out, messages.open("w") as err:
        child = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, process_group=0
        )
        status = _status(child, 3 * 60 * budget_min + SLACK_S, signals)
    return Outcome(
        program=name,
        unseen=UNSEEN[name],
        budget_min=budget_min,
        began=began,
        seconds=round(before_s + monotonic() - begun, 1),
        status=status,
        why=_why(status, messages),
        load=(load, os.getloadavg()[0]),
    )


def _status(child: "subprocess.Popen[bytes]", limit_s: float, signals: Sequence[int]) -> int | None:
    """The exit status; None: the search was ended at the limit."""
    end = monotonic() + limit_s
    while not signals and monotonic() < end:
        with suppress(subprocess.TimeoutExpired):
            return child.wait(timeout=LOOK_S)
    _end(child)
    return int(ExitCode.INTERRUPTED) if signals else None


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.send_signal(signal.SIGINT)
    try:
        child.wait(timeout=ENDING_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _why(status: int | None, messages: Path) -> str:
    """The error of a failed search: its last message, or the last line that it wrote. Further lines
    of a message may have paths of the machine; the file of the messages has them."""
    if status is None:
        return "the search was not over at its limit"
    if status in (ExitCode.OK, ExitCode.INTERRUPTED):
        return ""
    lines = messages.read_text("utf-8", errors="replace").splitlines()
    own = [line for line in lines if line.startswith("heapwright: ")]
    return " ".join((own or lines or [""])[-1].removeprefix("heapwright: ").split())[:TOLD]


def keep_answer(name: str, folder: Path, keep: Path) -> None:
    """The document, and the runs of the judgement, compressed."""
    text = (folder / f"{name}.json").read_bytes()
    _write(keep / f"{name}.json.gz", text)
    document = Tailoring.model_validate_json(text)
    rounds = () if document.refinement is None else document.refinement.rounds
    tried = (*document.candidates, *(each for round_ in rounds for each in round_.tried))
    digests = {each.name: each.digest for each in tried}
    runs = folder / name / f"judged-0-{digests.get(document.winner, '')}.json"
    if document.judged and runs.exists():
        rows = io.StringIO(newline="")
        write_runs(Comparison.from_json(runs.read_bytes()).runs, rows)
        _write(keep / f"{name}.csv.gz", rows.getvalue().encode())


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, mtime=0))


def campaign(
    names: Sequence[str], asked: argparse.Namespace, signals: Sequence[int] = ()
) -> Iterator[Outcome]:
    """Each outcome is written before the next search begins. None begins after a signal."""
    found = outcomes(asked.keep)
    for name in names:
        before = found.get(name)
        if is_over(before, again=asked.again):
            continue
        if signals:
            return
        before_s = 0.0 if before is None else before.seconds
        outcome = search(name, asked.searches, asked.budget, before_s, signals)
        found[name] = outcome
        if outcome.status == ExitCode.OK:
            keep_answer(name, asked.searches, asked.keep)
        write_outcomes(asked.keep, found)
        yield outcome
        if outcome.status == ExitCode.INTERRUPTED:
            return


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--budget", type=float, default=3.0, metavar="MINUTES")
    parser.add_argument("--keep", type=Path, default=KEPT, metavar="FOLDER")
    parser.add_argument("--again", action="store_true", help="repeat the searches that failed")
    parser.add_argument("searches", type=Path)
    parser.add_argument("programs", nargs="*")
    asked = parser.parse_args()
    known = preloadable_names()
    names = asked.programs or known
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"there is no such program: {', '.join(unknown)}")
    for folder in (asked.searches, asked.keep):
        folder.mkdir(parents=True, exist_ok=True)
    # A handler that raises could leave a search between its start and the first line after it.
    signals: list[int] = []
    noting = dict.fromkeys((signal.SIGINT, *ENDING), lambda number, _: signals.append(number))
    last = None
    with handled(noting):
        for outcome in campaign(names, asked, signals):
            last = outcome.status
            print(f"{outcome.program}: {outcome.seconds:.0f} s, status {last}", flush=True)
    if signals or last == ExitCode.INTERRUPTED:
        print("the same command continues", flush=True)
        return int(ExitCode.INTERRUPTED)
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright profile --sample SIZE`: run a command under the sampler, and print.

Each process of the command writes documents. The last one of the process that requested most memory
is shown. The launcher of the recorder starts the command. It accounts for processes that no preload
reaches.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.stacks.profile import Amount
from heapwright.artefacts.stacks.read import read_stacks
from heapwright.artefacts.trace.file import trace_info
from heapwright.base import native
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.quantities import several
from heapwright.base.scratch import Scratch
from heapwright.commands.coverage import coverage_of
from heapwright.commands.output import Outputs, name_page
from heapwright.commands.record import record_command
from heapwright.commands.text import printing
from heapwright.limit.unreached import unreached
from heapwright.profile.stacks import read_named_stacks
from heapwright.record.recorder import HowToRecord, Outcome
from heapwright.report.console import make_console
from heapwright.report.stacks.page import stacks_page
from heapwright.report.stacks.summary import print_stacks

LIBRARY = "sampler"
MEAN = "HEAPWRIGHT_SAMPLE"
PREFIX = "HEAPWRIGHT_SAMPLE_FILE"
ENDING = "HEAPWRIGHT_SAMPLE_ENDING"
EMPTY = "HEAPWRIGHT_SAMPLE_EMPTY"
SUFFIX = ".samples"


@dataclass(frozen=True, slots=True)
class Sampled:
    """What is to be sampled, and where the answer goes."""

    command: tuple[str, ...]
    mean: int
    document: Path | None
    html_file: str | None
    quiet: bool


def run_sampled(asked: Sampled) -> ExitCode:
    """Run the command and print its samples. Raises HeapwrightError."""
    outputs = Outputs(html=asked.html_file)
    kept = None
    if asked.document is not None:
        kept = outputs.beside(str(asked.document.absolute()))
    with Scratch() as folder:
        prefix = Path(os.environ.get(PREFIX) or folder / "process").absolute()
        before = set(_documents(prefix))
        outcome, notes = record_command(
            asked.command,
            folder / "trace",
            HowToRecord(system=False),
            behind=(native.library(LIBRARY),),
            variables={MEAN: str(asked.mean), PREFIX: str(prefix), ENDING: "1", EMPTY: "1"},
            recorded=False,
        )
        missed = unreached(coverage_of(trace_info(folder / "trace")), None, "was not sampled")
        documents = [each for each in _documents(prefix) if each not in before]
        if not documents:
            raise _without_document(outcome, missed)
        chosen, others = _largest(documents)
        if kept is not None:
            kept.write(chosen.read_text("utf-8", "surrogateescape"))
        stacks = read_named_stacks(chosen)
    failure = outputs.write(html=lambda: stacks_page(stacks, Path(asked.command[0]).name))
    with printing():
        print_stacks(make_console(outputs.stream), stacks, quiet=asked.quiet)
    name_page(outputs, failure, quiet=asked.quiet)
    more = (
        f"{several(others, 'other process', 'other processes')} requested less and "
        f"{'is' if others == 1 else 'are'} not shown; {PREFIX}=PREFIX keeps all documents"
    )
    for note in (*notes, missed, more if others else ""):
        if note:
            print(f"heapwright: {note}", file=sys.stderr)  # noqa: T201
    if failure is not None:
        raise failure
    return ExitCode.OK


def _documents(prefix: Path) -> list[Path]:
    """The documents with this prefix: PREFIX.PID.NUMBER.samples."""
    found = prefix.parent.glob(f"*{SUFFIX}")
    return [each for each in found if each.name.startswith(f"{prefix.name}.")]


def _process_and_number(document: Path) -> tuple[int, int]:
    words = document.name.removesuffix(SUFFIX).rsplit(".", 2)
    return int(words[1]), int(words[2])


def _largest(documents: list[Path]) -> tuple[Path, int]:
    """The last document of the process that requested most, and the number of other processes."""
    last: dict[int, Path] = {}
    for each in sorted(documents, key=_process_and_number):
        last[_process_and_number(each)[0]] = each
    requested = {each: read_stacks(each).total(Amount.BYTES) for each in last.values()}
    return max(requested, key=lambda each: requested[each]), len(last) - 1


def _without_document(outcome: Outcome, missed: str) -> HeapwrightError:
    """Why there is no document."""
    if missed:
        return HeapwrightError(
            f"nothing was sampled: {missed}", exit_code=ExitCode.NOTHING_COMPARED
        )
    if outcome.signal:
        return HeapwrightError(
            f"the command was ended by signal {outcome.signal} before it wrote its samples",
            "HEAPWRIGHT_SAMPLE_EVERY=SECONDS writes them while it runs",
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    return HeapwrightError(
        "the sampler wrote no document: it was not loaded, or its file could not be written",
        f"{PREFIX}=PREFIX names another place for documents",
        exit_code=ExitCode.NOTHING_COMPARED,
    )

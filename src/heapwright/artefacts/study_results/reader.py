# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a study left behind: a folder with its design, every run of it, and the hosts it ran on.

`study.toml` is the study as it was read, and `design.json` its design on this machine. `runs.jsonl`
has one line a run behind a header. `details.jsonl` has the long parts of a run (memory over time,
processes). `host-NAME.json` is a machine. Lines are only appended. A writer that was killed leaves
whole lines, and behind them at most a torn one, which is no run. Details are written before the run
that they are of; without it they are ignored.

`open_results` reads one folder or several of the same study. A pair of block and treatment is run
once: should a line say it again (a lost worker that came back), the first one counts. `notes` lists
everything that was not taken unchanged. docs/reference/study-results.md describes the folder.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.study_results.folder import Folder
from heapwright.artefacts.study_results.frame import read_frame
from heapwright.artefacts.study_results.runs import (
    STUDY_FILE,
    Factor,
    Identity,
    StudyDesign,
    StudyRun,
)
from heapwright.base.errors import HeapwrightError
from heapwright.base.polars_package import pl


class Results:
    """One folder or several of the same study, read as one."""

    def __init__(self, folders: Sequence[Folder]) -> None:
        """Raises HeapwrightError if the folders are not of one study."""
        _refuse_mixture(folders)
        self.folders = tuple(folders)
        self.design = _joined([folder.design for folder in folders])
        self.study_text = folders[0].study_text
        self.environments: dict[str, Environment] = {}
        for folder in folders:
            self.environments.update(folder.environments)

    @property
    def factors(self) -> tuple[str, ...]:
        return tuple(factor.name for factor in self.design.factors)

    @property
    def responses(self) -> tuple[str, ...]:
        return tuple(response.name for response in self.design.responses)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on everything that was not taken unchanged from the files. Reads the runs."""
        return self._table[1]

    def frame(self) -> pl.DataFrame:
        """A row a run: each factor's level, `OWN_COLUMNS`, and each response.

        A response is null where it was not measured or the run was not ok. With several folders
        the blocks of each follow those of the one before; discarded ones keep numbers below 1.
        """
        return self._table[0]

    def runs(self, keep: Collection[tuple[int, str]] | None = None) -> Iterator[StudyRun]:
        """The runs, one at a time, in the order and with the blocks of the frame.

        `keep` are the pairs of block and treatment that are wanted; all, if it is not given. They
        are without what `details.jsonl` holds.
        """
        for folder in range(len(self.folders)):
            yield from self._runs_of(folder, keep).values()

    def whole_runs(self, keep: Collection[tuple[int, str]]) -> Iterator[StudyRun]:
        """The runs that are wanted, with memory over time and processes."""
        for place, folder in enumerate(self.folders):
            runs = self._runs_of(place, keep)
            details = folder.details(runs)
            for identity, run in runs.items():
                if long := details.get(identity):
                    extra = {"rss_series": list(long.rss_series), "processes": list(long.processes)}
                    yield run.model_copy(update=extra)
                else:
                    yield run

    def _runs_of(
        self, place: int, keep: Collection[tuple[int, str]] | None
    ) -> dict[Identity, StudyRun]:
        """Runs of one folder, by what they are called in it, with the blocks of the frame."""
        found: dict[Identity, StudyRun] = {}
        taken = set()
        ids = {cell.id for cell in self.design.treatments}
        if keep is not None:
            ids &= {treatment for _, treatment in keep}
        for run in self.folders[place].runs(ids):
            block = shifted(run.block, self._offsets[place])
            key = (block, run.treatment)
            if key in taken or not (keep is None or key in keep):
                continue
            taken.add(key)
            found[run.block, run.treatment, run.began] = run.model_copy(update={"block": block})
        return found

    @cached_property
    def _offsets(self) -> tuple[int, ...]:
        """What the blocks of each folder are moved by."""
        offsets = [0]
        for folder in self.folders[:-1]:
            most = max(folder.design.blocks, folder.design.discard)
            offsets.append(offsets[-1] + most)
        return tuple(offsets)

    @cached_property
    def _table(self) -> tuple[pl.DataFrame, tuple[str, ...]]:
        return read_frame(self.folders, self._offsets, self.design)


def open_results(*paths: Path) -> Results:
    """Read results folders. Raises HeapwrightError for what is none, or not of the same study."""
    if not paths:
        raise HeapwrightError("no results folder is named", "`heapwright study run` makes one")
    seen = list(dict.fromkeys(path.resolve() for path in paths))
    return Results([Folder.open(path) for path in seen])


def shifted(block: int, offset: int) -> int:
    """A block's number behind `offset` earlier ones; a discarded one stays below 1."""
    return block + offset if block > 0 else block - offset


def _refuse_mixture(folders: Sequence[Folder]) -> None:
    first = folders[0]
    for folder in folders:
        found = folder.design
        if found.study != first.design.study:
            raise HeapwrightError(
                f"{first.path} and {folder.path} are results of two studies: "
                f"{first.design.study} and {found.study}",
                "analyse them one by one",
            )
        if (found.sha256, found.scale) != (first.design.sha256, first.design.scale):
            raise HeapwrightError(
                f"{first.path} and {folder.path} are results of two versions of "
                f"{found.study}: their {_difference(found, first.design)} differ",
                "analyse them one by one",
            )


def _difference(one: StudyDesign, other: StudyDesign) -> str:
    return "scales" if one.scale != other.scale else f"files {STUDY_FILE}"


def _joined(designs: Sequence[StudyDesign]) -> StudyDesign:
    """One design with all levels, treatments and blocks; a level is dropped if all dropped it."""
    first = designs[0]
    if len(designs) == 1:
        return first
    cells = {cell.id: cell for design in designs for cell in design.treatments}
    used = {(name, level) for cell in cells.values() for name, level in cell.levels.items()}
    return first.model_copy(
        update={
            "factors": tuple(
                _united([design.factors[place] for design in designs])
                for place in range(len(first.factors))
            ),
            "treatments": tuple(cells.values()),
            "blocks": sum(design.blocks for design in designs),
            "dropped": tuple(
                each for each in first.dropped if (each.factor, each.level) not in used
            ),
        }
    )


def _united(factors: Sequence[Factor]) -> Factor:
    """A factor with the levels of all; numbers in their order."""
    levels = list(dict.fromkeys(level for factor in factors for level in factor.levels))
    numbers = {
        level: value
        for factor in factors
        for level, value in zip(factor.levels, factor.values, strict=bool(factor.values))
    }
    if len(numbers) == len(levels):
        levels.sort(key=numbers.__getitem__)
    values = tuple(numbers[level] for level in levels if level in numbers)
    return factors[0].model_copy(update={"levels": tuple(levels), "values": values})

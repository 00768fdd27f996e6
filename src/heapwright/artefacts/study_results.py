# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a study left behind: a folder with its design, every run of it, and the hosts it ran on.

`study.toml` is the study as it was read, `design.json` what it came to on this machine,
`runs.jsonl` one line a run behind a header, `details.jsonl` what of a run is long (memory over
time, processes), `host-NAME.json` a machine. Lines are only ever appended, so that a writer who was
killed leaves whole lines, and behind them at most a torn one, which is no run. Details are written
before the run that they are of; without it they are nobody's.

`open_results` reads one folder or several of the same study. A pair of block and treatment is run
once: should a line say it again (a lost worker that came back), the first one counts. Everything
that was not taken as it stood is told in `notes`. docs/study-results.md describes the folder.
"""

import re
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self, TypeVar

from pydantic import BaseModel, ValidationError

from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.provenance import Environment
from heapwright.artefacts.study_runs import (
    DESIGN_FILE,
    DETAILS_FILE,
    FORMAT,
    HOST_FILES,
    RUNS_FILE,
    STUDY_FILE,
    VERSION,
    Details,
    Factor,
    Header,
    Identity,
    StudyDesign,
    StudyRun,
)

if TYPE_CHECKING:
    import polars as pl

LEVEL = re.compile(rb'"level":\s*"([^"]*)"')
Read = TypeVar("Read", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Folder:
    """One results folder, its runs not yet looked at."""

    path: Path
    design: StudyDesign
    study_text: str
    environments: Mapping[str, Environment]
    """By the name of the host."""

    @classmethod
    def open(cls, path: Path) -> Self:
        """Raises HeapwrightError if this is no results folder, or one of another version."""
        design = _read_design(path)
        if (design.format, design.version) != (FORMAT, VERSION):
            raise HeapwrightError(
                f"{path} is in version {design.version} of the format {design.format}; "
                f"this heapwright reads version {VERSION} of {FORMAT}",
                "read it with the version that wrote it",
            )
        machines = [_parsed(Environment, file) for file in sorted(path.glob(HOST_FILES))]
        text = _text_of(path / STUDY_FILE)
        return cls(path, design, text, {each.host: each for each in machines})

    def lines(self) -> tuple[bytes, bool]:
        """The whole lines of runs, and whether there is a torn one behind them."""
        file = self.path / RUNS_FILE
        data = _bytes_of(file)
        end = data.rfind(b"\n") + 1
        header_end = data.find(b"\n") + 1
        if header_end:
            self._check(data[: header_end - 1], file)
        return data[header_end:end], end < len(data)

    def runs(self, treatments: Container[str] | None = None) -> Iterator[StudyRun]:
        """The runs as they stand, of these treatments only; lines that are none are passed over."""
        for line in self.lines()[0].splitlines():
            if treatments is None or _treatment_in(line) in treatments:
                with suppress(ValidationError):
                    yield StudyRun.model_validate_json(line)

    def details(self, wanted: Collection[Identity]) -> dict[Identity, Details]:
        """The details of these runs; a torn line is nobody's."""
        found = {}
        treatments = {treatment for _, treatment, _ in wanted}
        for line in _bytes_of(self.path / DETAILS_FILE).splitlines():
            if _treatment_in(line) in treatments:
                with suppress(ValidationError):
                    details = Details.model_validate_json(line)
                    if details.identity in wanted:
                        found[details.identity] = details
        return found

    def _check(self, header: bytes, file: Path) -> None:
        try:
            found = Header.model_validate_json(header)
        except ValidationError as error:
            raise HeapwrightError(f"{file} does not begin as the runs of a study do") from error
        if found != Header.of(self.design):
            raise HeapwrightError(
                f"{file} holds runs of another study than {self.path / DESIGN_FILE}: "
                f"{found.study}, not {self.design.study}"
                if found.study != self.design.study
                else f"{file} holds runs of another version of {self.design.study}",
                "results of different studies are kept in folders of their own",
            )


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
        """What was not taken as it stands in the files, in sentences; reads the runs."""
        return self._table[1]

    def frame(self) -> "pl.DataFrame":
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
    def _table(self) -> "tuple[pl.DataFrame, tuple[str, ...]]":
        from heapwright.artefacts.study_frame import read_frame  # noqa: PLC0415

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


def _read_design(path: Path) -> StudyDesign:
    if not path.is_dir():
        what = "is no folder" if path.exists() else "does not exist"
        raise HeapwrightError(f"{path} {what}", "name the folder that `study run -o` wrote")
    if not (path / DESIGN_FILE).is_file():
        raise HeapwrightError(
            f"{path} holds no results of a study: there is no {DESIGN_FILE} in it",
            "name the folder that `heapwright study run -o` wrote",
        )
    return _parsed(StudyDesign, path / DESIGN_FILE)


def _parsed(model: type[Read], file: Path) -> Read:
    text = _text_of(file)
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise HeapwrightError(
            f"{file} cannot be read as results of a study: {where or 'it'}: {first['msg']}",
            "it was written by another version of heapwright, or changed since",
        ) from error


def _treatment_in(line: bytes) -> str:
    """The treatment that a line names; looked for, because reading all of it takes longer."""
    found = LEVEL.search(line)
    return found[1].decode("utf-8", "replace") if found else ""


def _bytes_of(file: Path) -> bytes:
    """The whole file; nothing if there is none."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise HeapwrightError(f"{file} cannot be read: {error.strerror or error}") from error


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise HeapwrightError(f"{file} cannot be read: {error.strerror or error}") from error


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

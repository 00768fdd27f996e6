# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One results folder of a study: its design, its hosts, and its runs as the files have them."""

import gzip
import re
import zlib
from collections.abc import Collection, Container, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from pydantic import BaseModel, ValidationError

from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.study_results.runs import (
    DESIGN_FILE,
    DETAILS_FILE,
    FORMAT,
    HOST_FILES,
    RUNS_FILE,
    STUDY_FILE,
    VERSION,
    Details,
    Header,
    Identity,
    StudyDesign,
    StudyRun,
)
from heapwright.base.errors import HeapwrightError

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

    @property
    def compressed(self) -> bool:
        """Whether this is a finished study in its compact form, to which no run is added."""
        return compressed(self.path / RUNS_FILE).exists()

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
        """The details of these runs; a torn line belongs to no run."""
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


def compressed(file: Path) -> Path:
    """The compressed form of a file, which the compact form of a folder has instead of it."""
    return file.with_name(f"{file.name}.gz")


def _bytes_of(file: Path) -> bytes:
    """The whole file, or what its compressed form holds; nothing if there is neither."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return _expanded(compressed(file))
    except OSError as error:
        raise HeapwrightError(f"{file} cannot be read: {error.strerror or error}") from error


def _expanded(file: Path) -> bytes:
    try:
        return gzip.decompress(file.read_bytes())
    except FileNotFoundError:
        return b""
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise HeapwrightError(
            f"{file} cannot be read: {reason}", "get the whole file again"
        ) from error


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise HeapwrightError(f"{file} cannot be read: {error.strerror or error}") from error

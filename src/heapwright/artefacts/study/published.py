# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Published tables: where a study file says they are, and how they compare with the measured
figures.

A table is a CSV file in the folder `published` beside the study file, UTF-8, one line a row:

| kind | columns |
|---|---|
| `means` | `response`, factors of the study, `mean`, `groups` |
| `anova` | `response`, factors, `term`, `F`, `p`, `sum_sq`, `df` |
| `ranking` | `response`, factors, `percent` (over the best) |

A factor that is empty, or no column, is averaged over. Levels are named as in the study. Every
column but `response` and the first of the values can be missing. A column `why` states why the
measured figure differs from the published one (another version, scenario or method). The page
docs/reference/findings.md describes them. `keep` puts them into a results folder, so that an
analysis finds the values to compare its runs with.
"""

import csv
import math
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    field_validator,
)

from heapwright.artefacts.study_analysis.terms import Frozen
from heapwright.base.errors import HeapwrightError

Kind = Literal["means", "anova", "ranking"]
VALUES: dict[Kind, tuple[str, ...]] = {
    "means": ("mean", "groups"),
    "anova": ("F", "p", "sum_sq", "df"),
    "ranking": ("percent",),
}
"""The columns that are no keys; the first of each is a number in every row."""
TEXTS = ("groups",)
RESPONSE = "response"
WHY = "why"
TERM = "term"
Cell = float | str | None


class PublishedSource(BaseModel):
    """`[[published]]`: a published table that is shown beside the measured figures."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    file: Annotated[StrictStr, Field(description="Relative to the study file, as published/X.csv")]
    kind: Kind
    title: StrictStr
    source: StrictStr = ""
    note: StrictStr = ""
    average: Annotated[
        Literal["arithmetic", "geometric"],
        Field(description="Of what a ranking is: means over treatments of this kind"),
    ] = "arithmetic"
    units: Annotated[
        dict[str, StrictStr], Field(description="Response → unit of the printed figures, for show")
    ] = {}
    times: Annotated[
        dict[str, StrictInt | StrictFloat],
        Field(description="Response → factor from the printed unit to heapwright's unit"),
    ] = {}

    @field_validator("file")
    @classmethod
    def _inside(cls, value: str) -> str:
        path = PurePosixPath(value)
        if path.is_absolute() or ".." in path.parts or path.suffix != ".csv":
            raise ValueError("is to be a .csv file below the folder of the study")
        return value


class PublishedRow(Frozen):
    """A line of a published table, and the same figures of the measured runs."""

    keys: dict[str, str]
    published: dict[str, Cell]
    ours: dict[str, Cell] = Field(default_factory=dict)
    """Empty if there is nothing to hold against it."""
    low: float | None = None
    high: float | None = None
    """Of the first measured column, at the study's confidence."""
    blocks: int = 0
    because: str = ""
    """Why there is no measured figure."""
    why: str = ""
    """Why the measured figure differs, from the table."""

    @property
    def ratio(self) -> float | None:
        """The first measured figure over the published one. None: there is none, or the published
        one is zero."""
        one, other = (next(iter(each.values()), None) for each in (self.ours, self.published))
        if not isinstance(one, float) or not isinstance(other, float) or other == 0:
            return None
        return one / other


class Agreement(Frozen):
    """Kendall's tau-b between the first columns of all rows that have both."""

    tau: float
    rows: int


class PublishedTable(Frozen):
    """A published table beside the measured figures; one response each."""

    title: str
    kind: Kind
    response: str
    unit: str = ""
    source: str = ""
    note: str = ""
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[PublishedRow, ...]
    agreement: Agreement | None = None


def keep(sources: Iterable[PublishedSource], origin: Path, folder: Path) -> None:
    """Copy the tables that lie beside a study file into a results folder.

    Raises HeapwrightError for one that is not there.
    """
    for source in sources:
        target = folder / source.file
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(origin / source.file, target)
        except OSError as error:
            raise HeapwrightError(
                f"the published table {origin / source.file} cannot be read: "
                f"{error.strerror or error}",
                "[[published]] names files relative to the study file",
            ) from error


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a published table."""

    response: str
    keys: dict[str, str]
    """Column to level, or to the term; what is empty is not there."""
    values: dict[str, Cell]
    why: str = ""


def read_lines(path: Path, kind: Kind) -> tuple[Line, ...]:
    """Read a published table. Raises HeapwrightError with the line for what is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise HeapwrightError(f"the published table {path} cannot be read: {error}") from error
    reader = csv.DictReader(text.splitlines(), strict=True)
    columns = tuple(reader.fieldnames or ())
    main = VALUES[kind][0]
    for needed in (RESPONSE, main):
        if needed not in columns:
            raise HeapwrightError(f"{path}:1: a table of {kind} has a column {needed!r}")
    try:
        return tuple(_line(row, kind) for row in reader)
    except (ValueError, csv.Error) as error:
        raise HeapwrightError(f"{path}:{reader.line_num}: {error}") from error


def _line(row: Mapping[str | None, str | None], kind: Kind) -> Line:
    if None in row or None in row.values():
        raise ValueError("there are not as many fields as columns")
    filled = {name: text.strip() for name, text in row.items() if name and text and text.strip()}
    response, why = filled.pop(RESPONSE, ""), filled.pop(WHY, "")
    values: dict[str, Cell] = {}
    for column in VALUES[kind]:
        text = filled.pop(column, None)
        if text is not None:
            values[column] = text if column in TEXTS else _number(text, column)
    if not response or VALUES[kind][0] not in values:
        raise ValueError(f"a line has a response and a {VALUES[kind][0]}")
    return Line(response, filled, values, why)


def _number(text: str, column: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{column} is no number: {text}")
    return value

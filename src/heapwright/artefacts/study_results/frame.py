# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The runs of results folders as one table: a row a run, a column for each factor and response.

Polars reads only the columns of the table out of the lines, some megabytes at a time. So memory is
that of the largest file and of the table, not that of the runs with all their processes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.folder import Folder
from heapwright.artefacts.study_results.runs import OWN_COLUMNS, Cell, StudyDesign
from heapwright.base.polars_package import pl

PIECE = 16 << 20
"""Bytes of lines that are read at a time."""
Notes = tuple[str, ...]


def read_frame(
    folders: Sequence[Folder], offsets: Sequence[int], design: StudyDesign
) -> tuple[pl.DataFrame, Notes]:
    """The table of `Results.frame`, and sentences about what was left out of it."""
    names = [response.name for response in design.responses]
    cells = _cells(design)
    tables, notes = [], []
    for folder, offset in zip(folders, offsets, strict=True):
        table, said = _folder_frame(folder, names)
        known = table.join(cells, on="treatment", how="inner", maintain_order="left")
        if strange := len(table) - len(known):
            said.append(f"{strange} runs are of treatments that the design does not have")
        tables.append(
            known.with_columns(
                pl.when(pl.col("block") > 0)
                .then(pl.col("block") + offset)
                .otherwise(pl.col("block") - offset)
            )
        )
        notes += [f"{folder.path}: {sentence}" for sentence in said]
    factors = [factor.name for factor in design.factors]
    return pl.concat(tables).select(*factors, *OWN_COLUMNS, *names), tuple(notes)


def _cells(design: StudyDesign) -> pl.DataFrame:
    """The level of each factor, by treatment."""
    factors = [factor.name for factor in design.factors]

    def row(cell: Cell) -> dict[str, str]:
        return {"treatment": cell.id, **{name: cell.levels.get(name, "") for name in factors}}

    schema = dict.fromkeys(["treatment", *factors], pl.String)
    return pl.DataFrame([row(cell) for cell in design.treatments], schema=schema)


def _folder_frame(folder: Folder, names: Sequence[str]) -> tuple[pl.DataFrame, list[str]]:
    lines, torn = folder.lines()
    notes = ["the last line is torn: that run was not over, and is no run"] if torn else []
    table, damaged = _read(lines, names)
    if damaged:
        notes.append(f"{damaged} lines cannot be read as runs and are left out")
    single = table.unique(["block", "treatment"], keep="first", maintain_order=True)
    if repeated := len(table) - len(single):
        notes.append(f"{repeated} runs are there twice; the first counts")
    return single, notes


def _read(lines: bytes, names: Sequence[str]) -> tuple[pl.DataFrame, int]:
    """The table of some lines, and how many of them are no runs."""
    schema = _schema(names)
    tables = [_shaped(pl.DataFrame(schema=schema), names)]
    damaged = 0
    for piece in _pieces(lines):
        table, bad = _read_piece(piece, schema)
        tables.append(_shaped(table, names))
        damaged += bad
    whole = pl.concat(tables)
    good = whole.drop_nulls(["treatment", "block", "outcome"])
    return good, damaged + len(whole) - len(good)


def _schema(names: Sequence[str]) -> dict[str, pl.DataType | type[pl.DataType]]:
    """What is read of a line."""
    figures = [pl.Field(name, pl.Float64) for name in names]
    return {
        "level": pl.String,
        "block": pl.Int64,
        "position": pl.Int64,
        "host": pl.String,
        "outcome": pl.String,
        "began": pl.Float64,
        "responses": pl.Struct(figures),
    }


def _shaped(table: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Responses as columns of their own, and none of a run that did not end well."""
    fine = pl.col("outcome") == Outcome.OK.value
    figures = [
        pl.when(fine).then(pl.col("responses").struct.field(name)).alias(name) for name in names
    ]
    return table.select(
        pl.col("level").alias("treatment"),
        pl.col("block", "position"),
        pl.col("host").fill_null(""),
        (pl.col("block") < 1).alias("warmup"),
        pl.col("outcome", "began"),
        *figures,
    )


def _pieces(lines: bytes) -> Iterator[bytes]:
    """The lines in pieces of about `PIECE`, each ending where a line does."""
    begin = 0
    while begin < len(lines):
        end = lines.find(b"\n", min(begin + PIECE, len(lines) - 1)) + 1 or len(lines)
        yield lines[begin:end]
        begin = end


def _read_piece(
    piece: bytes, schema: dict[str, pl.DataType | type[pl.DataType]]
) -> tuple[pl.DataFrame, int]:
    """All lines at once; one by one only where one of them is damaged."""
    try:
        return pl.read_ndjson(piece, schema=schema), 0
    except pl.exceptions.PolarsError:
        pass
    tables, damaged = [pl.DataFrame(schema=schema)], 0
    for line in piece.splitlines():
        try:
            tables.append(pl.read_ndjson(line, schema=schema))
        except pl.exceptions.PolarsError:
            damaged += 1
    return pl.concat(tables), damaged

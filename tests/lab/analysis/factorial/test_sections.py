# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A section: tables for every set of factors, and notes for what is unusual."""

from collections.abc import Callable

import polars as pl

from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import observe
from heapwright.analysis.factorial.sections import section
from heapwright.artefacts.study_analysis.document import Settings

from .made import Study

Modelled = Callable[[Study], Model]
WHOLE = Study({"a": 3, "b": 2, "c": 2}, blocks=4)


def test_tables_and_pairs_of_all_factors(modelled: Modelled) -> None:
    named = Settings(interactions=(("a", "b", "c"),))
    found = section(model(modelled(WHOLE).observed, named.interactions), named)
    assert [table.factors for table in found.means] == [
        ("a",),
        ("b",),
        ("c",),
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
        ("a", "b", "c"),
    ]
    assert [pair.factor for pair in found.pairs] == ["a", "a", "a", "b", "c"]
    assert (found.runs, found.treatments, found.blocks, found.hosts) == (48, 12, 4, 1)
    assert (found.sums, found.notes, found.allocator) == ("sequential", (), None)


def test_missing_runs_are_noted() -> None:
    found = section(model(observe(WHOLE.frame().head(46), WHOLE.named(), "y")), Settings(), "x")
    assert found.allocator == "x"
    assert found.sums == "type-2"
    assert found.notes[0].startswith("2 of 48 runs are missing")
    assert "type 2" in found.notes[1]


def test_inseparable_terms_are_noted(modelled: Modelled) -> None:
    found = section(
        modelled(Study({"a": 3, "b": 3}, 4, left_out=lambda k: k[0] < k[1])), Settings()
    )
    assert any(note.endswith("degrees of freedom lost: a:b 3") for note in found.notes)
    assert found.balanced


def test_hosts_are_noted() -> None:
    frame = WHOLE.frame().with_columns(host=pl.lit("h") + (pl.col("block") % 2).cast(pl.String))
    found = section(model(observe(frame, WHOLE.named(), "y")), Settings())
    assert found.hosts == 2
    assert any("from 2 hosts" in note for note in found.notes)

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The literature beside the measurement."""

from heapwright.analysis.taxonomy.published import (
    Explanation,
    book,
    claims,
    disagreements,
    published_design,
    published_of,
    ticks,
)
from heapwright.artefacts.run.provenance import Kind
from heapwright.artefacts.taxonomy.document import Blowup, Row, Sharing

SHARES = Sharing(active=True, passive=False)
AVOIDS = Sharing(active=False, passive=False)


def row(allocator: str, blowup: Blowup | None, sharing: Sharing, fast: bool | None) -> Row:
    return Row(
        allocator=allocator,
        kind=Kind.COMPOSED,
        fast=fast,
        scalable=None,
        false_sharing=sharing,
        blowup=blowup,
        published=published_of(allocator),
    )


def test_the_rows_of_the_table_are_there() -> None:
    assert len({claim.algorithm for claim in book().claim if claim.source == "Berger 2002"}) == 8
    hoard = published_of("hoard")
    assert hoard is not None
    assert claims(hoard) == {
        "fast": "yes",
        "scalable": "yes",
        "avoids false sharing": "yes",
        "blowup": "none",
    }
    assert published_of("mine.so") is None
    assert claims(None) == {}


def test_no_allocator_follows_two_rows() -> None:
    followers = [name for claim in book().claim for name in claim.allocators]
    assert len(followers) == len(set(followers))


def test_agreement_is_silent() -> None:
    assert list(disagreements(row("private", "unbounded", SHARES, fast=True))) == []


def test_unjudged_cells_and_maybe_agree_with_all() -> None:
    assert list(disagreements(row("concurrent", None, Sharing(), fast=False))) == []


def test_a_difference_is_named() -> None:
    (found,) = disagreements(row("hoard", "linear", AVOIDS, fast=True))
    assert (found.column, found.published, found.measured) == ("blowup", "none", "O(P)")


def test_words_of_a_row() -> None:
    assert ticks(row("x", "linear", AVOIDS, fast=None)) == {
        "fast": "",
        "scalable": "",
        "avoids false sharing": "yes",
        "blowup": "O(P)",
    }


def test_explanations_speak_of_what_is_published_otherwise() -> None:
    """None of them explains an agreement, or stands there twice."""
    keys = []
    for each in book().explanation:
        for name in each.allocators:
            keys.append((name, each.column, each.measured))
            said = claims(published_of(name))[each.column]
            assert said not in ("", "maybe", each.measured), (name, each.column)
    assert len(keys) == len(set(keys))
    assert all(isinstance(each, Explanation) and each.text for each in book().explanation)


def test_designs_of_the_literature() -> None:
    design = published_design("glibc")
    assert design is not None
    assert design.source == "published"
    assert published_design("kingsley") is None

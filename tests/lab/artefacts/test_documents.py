# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A file that is not the requested document is refused with the reason."""

import json
from pathlib import Path

import pytest

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.documents import KINDS, parsed, refuse_document
from heapwright.artefacts.fidelity.document import Fidelity
from heapwright.artefacts.gate.document import Gate
from heapwright.artefacts.profile.document import Profile
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import TRACE_MAGIC

PATH = Path("file.json")


def refused(content: object) -> HeapwrightError:
    text = content if isinstance(content, str) else json.dumps(content)
    with pytest.raises(HeapwrightError) as caught:
        parsed(Fidelity, text, PATH, "a fidelity")
    return caught.value


def test_a_newer_document_is_reported_as_newer() -> None:
    error = refused({"format": "heapwright fidelity", "schema_version": 7})
    assert "file.json is a fidelity of version 7, which is newer than this tool" in error.message
    assert "reads version 1" in error.message
    assert "use a newer Heapwright" in error.hint


@pytest.mark.parametrize("content", [{}, [], 3, "null", {"name": "package", "version": 2}])
def test_a_json_file_of_another_format_is_refused(content: object) -> None:
    error = refused(content)
    assert "it is not a document of Heapwright" in error.message
    assert error.hint == KINDS


def test_a_document_of_another_kind_is_named() -> None:
    error = refused({"format": "heapwright profile", "schema_version": 1})
    assert "is not a fidelity: its format is 'heapwright profile'" in error.message
    with pytest.raises(HeapwrightError, match="its format is 'heapwright profile'"):
        parsed(Gate, '{"format": "heapwright profile", "schema_version": 9}', PATH, "a gate")


def test_a_file_without_json_is_refused() -> None:
    assert "is not JSON" in refused("{").message
    assert "is not JSON" in refused("\x00binary").message


def test_a_trace_is_named_as_one() -> None:
    for content, what in ((TRACE_MAGIC + b"\xf0\x80", "a trace"), (b"\xf0\x80", "not text")):
        with pytest.raises(HeapwrightError, match=f"is not a gate: it is {what}$"):
            parsed(Gate, content, PATH, "a gate")


def test_a_damaged_document_names_the_place() -> None:
    error = refused({"format": "heapwright fidelity", "schema_version": 1})
    assert "is a fidelity that was changed or damaged" in error.message
    assert "Field required" in error.message


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"format": "heapwright gate", "schema_version": 1}', "its format is 'heapwright gate'"),
        ('{"format": "other"}', "it is not a document of Heapwright"),
    ],
)
def test_a_document_in_place_of_a_trace_is_refused(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "x.json"
    file.write_text(text)
    with pytest.raises(HeapwrightError, match=f"x.json is not a trace: {why}"):
        refuse_document(file, "a trace", "")


@pytest.mark.parametrize("content", [b"", b"HWTRACE\x1a", b"{ no JSON"])
def test_other_files_go_to_the_reader_of_traces(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "x.trace"
    file.write_bytes(content)
    refuse_document(file, "a trace", "")


def test_a_comparison_is_no_damaged_profile(tmp_path: Path) -> None:
    text = json.dumps(dict.fromkeys(Comparison.model_fields) | {"schema_version": 1})
    with pytest.raises(HeapwrightError, match="is not a profile: it is a document of another kind"):
        parsed(Profile, text, tmp_path / "before.json", "a profile")

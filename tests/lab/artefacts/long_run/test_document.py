# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The document of a long run, and its journal, whole and half."""

import json
from pathlib import Path

import pytest

from heapwright.artefacts.long_run.document import (
    END,
    PLAN,
    ROUND,
    SAMPLE,
    Load,
    LongRun,
    Plan,
    Round,
    Sample,
    is_long_run,
    read_long_run,
)
from heapwright.artefacts.program.model import ProgramSubject
from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import read_environment
from heapwright.base.errors import HeapwrightError


def plan() -> Plan:
    return Plan(
        program=ProgramSubject(name="small", title="A small server", sha256="0"),
        command=("server",),
        allocator="glibc",
        load=Load(hours=1.0),
        interval_s=2.0,
        environment=read_environment([], {}),
    )


def sample(at: float) -> Sample:
    return Sample(
        time_s=at,
        resident_bytes=9000,
        anonymous_bytes=5000,
        live_bytes=3000,
        processes=1,
        busy=True,
    )


def journal(folder: Path, *, ended: bool) -> Path:
    with Journal.open({PLAN: plan().model_dump(mode="json")}, [folder], name="long") as made:
        for at in (0.0, 2.0):
            made.append({SAMPLE: sample(at).model_dump(mode="json")})
        made.append({ROUND: Round(begin_s=0.0, end_s=1.5).model_dump(mode="json")})
        if ended:
            made.append({END: {"outcome": "ok", "whole": True, "live_source": "mallinfo2"}})
        assert made.path is not None
        return made.path


def test_a_document_is_read_as_it_was_written(tmp_path: Path) -> None:
    run = LongRun(plan=plan(), outcome=Outcome.OK, whole=True, samples=(sample(0.0),))
    file = tmp_path / "run.json"
    file.write_text(run.to_json())
    assert is_long_run(file)
    assert read_long_run(file) == run


def test_a_finished_journal_reads_like_the_document(tmp_path: Path) -> None:
    file = journal(tmp_path, ended=True)
    assert is_long_run(file)
    run = read_long_run(file)
    assert run.whole
    assert run.outcome is Outcome.OK
    assert [each.time_s for each in run.samples] == [0.0, 2.0]
    assert len(run.rounds) == 1


def test_a_truncated_journal_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    file = journal(tmp_path, ended=False)
    with file.open("ab") as more:
        more.write(b'{"sample":{"time_s":4.0,"resi')
    run = read_long_run(file)
    assert not run.whole
    assert run.outcome is Outcome.FAILED
    assert "killed, or its disk was full" in run.detail
    assert len(run.samples) == 2


def test_a_file_of_another_format_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other"
    for text in ("", "{}\n", '{"format":"heapwright-journal","version":1}\n', "{\n}"):
        file.write_text(text)
        assert not is_long_run(file)
        with pytest.raises(HeapwrightError, match="long run"):
            read_long_run(file)
    assert not is_long_run(tmp_path / "nothing")
    with pytest.raises(HeapwrightError, match="cannot be read"):
        read_long_run(tmp_path / "nothing")


def test_a_document_of_another_version_is_refused(tmp_path: Path) -> None:
    run = LongRun(plan=plan(), outcome=Outcome.OK, whole=True)
    document = json.loads(run.to_json())
    document["schema_version"] = 99
    file = tmp_path / "run.json"
    file.write_text(json.dumps(document, indent=1))
    with pytest.raises(HeapwrightError, match="newer than this tool"):
        read_long_run(file)

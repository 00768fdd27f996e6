# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright study list`, `show`, `check` and `from`."""

import json
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.study.file import read_study
from heapwright.study import library

from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")

STUDIES = Path(__file__).parents[3] / "catalogue" / "studies"
STUDY = """format = 1
name = "mine"
title = "Mine"
workload = "larson"
arguments = ["--threads", "{threads}"]
[factors.allocator]
levels = ["glibc", "hoard"]
[factors.threads]
levels = [1, 2]
[factors.cpus]
role = "cpus"
levels = [1, 100000]
[responses.time]
from = "wall"
[scale.small.factors]
threads.levels = [2]
"""


@pytest.fixture(autouse=True)
def studies_of_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    """The installed ones have no influence. These are tested."""
    monkeypatch.setattr(library, "studies_folder", lambda: STUDIES)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(STUDY)
    return path


def test_the_list_has_every_study_with_its_title(heapwright: Heapwright) -> None:
    done = heapwright("study", "list")
    assert done.status == 0
    names = [line.split()[0] for line in done.out.splitlines()[1:]]
    assert names == sorted(path.stem for path in STUDIES.glob("*.toml"))
    document = json.loads(heapwright("study", "list", "--json").out)
    assert [each["name"] for each in document] == names
    assert all(len(each["sha256"]) == 64 and each["title"] for each in document)


def test_show_prints_the_size_of_a_study_on_this_machine(
    heapwright: Heapwright, mine: Path
) -> None:
    done = heapwright("study", "show", mine)
    assert done.status == 0
    assert "glibc (baseline) · hoard" in done.out
    assert "whole: 4 treatments in 10 blocks: 40 runs, 40 s if a run takes a second" in done.out
    assert "small: 2 treatments in 10 blocks: 20 runs" in done.out
    assert "dropped: cpus 100000: there are" in done.out
    small = heapwright("study", "show", mine, "--scale", "small")
    assert "whole:" not in small.out
    assert "small: 2 treatments" in small.out


def test_show_as_json_is_the_file_and_its_sizes(heapwright: Heapwright, mine: Path) -> None:
    document = json.loads(heapwright("study", "show", mine, "--json").out)
    assert document["factors"]["threads"]["levels"] == [1, 2]
    assert document["responses"]["time"]["from"] == "wall"
    assert document["sizes"]["small"]["extent"].startswith("2 treatments")


def test_show_of_a_shipped_study_has_its_findings(heapwright: Heapwright) -> None:
    done = heapwright("study", "show", "costa-2014")
    assert done.status == 0
    assert "jemalloc-fastest" in done.out
    assert "published" in done.out


def test_show_says_what_is_judged(heapwright: Heapwright) -> None:
    done = heapwright("study", "show", "custom-or-general", "--scale", "small")
    assert done.status == 0
    assert "is custom worth it, by program? against glibc, lea, " in done.out
    assert "; beside it reap" in done.out


def test_show_of_an_empty_design_reports_it_beside_the_rest(
    heapwright: Heapwright, mine: Path
) -> None:
    mine.write_text(STUDY.replace("levels = [1, 100000]", "levels = [100000]"))
    done = heapwright("study", "show", mine)
    assert done.status == 0
    assert "the design is empty: this machine can give none of the levels of cpus" in done.out
    refused = heapwright("study", "check", mine)
    assert refused.status == 2
    assert "mine.toml:12: factors.cpus.levels: the design is empty" in refused.err


def test_check_says_that_a_file_is_well(heapwright: Heapwright, mine: Path) -> None:
    done = heapwright("study", "check", mine, "reference")
    assert done.status == 0
    assert "mine.toml: the study mine is correct" in done.out
    assert "reference.toml: the study reference is correct" in done.out


def test_check_continues_after_a_file_with_errors(
    heapwright: Heapwright, mine: Path, tmp_path: Path
) -> None:
    (tmp_path / "one.toml").write_text(STUDY.replace("{threads}", "{thread}"))
    (tmp_path / "two.toml").write_text(STUDY.replace('"wall"', '"walls"'))
    done = heapwright("study", "check", "one.toml", mine, "two.toml")
    assert done.status == 2
    assert "mine.toml: the study mine is correct" in done.out
    said = done.err.splitlines()
    assert said[0].startswith("heapwright: one.toml:5: arguments.2: {thread} is not bound")
    assert [line.strip() for line in said[1:]] == [
        "did you mean threads?",
        "two.toml:14: responses.time.from: cannot be 'walls'",
        "did you mean wall?",
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{threads}", "{thread}", "mine.toml:5: arguments.2: {thread} is not bound"),
        ('"hoard"]', '"hord"]', "mine.toml:7: factors.allocator.levels.2: unknown allocator"),
        ('"hoard"]', '"a,b"]', "mine.toml:7: factors.allocator.levels.2: unknown allocator"),
        ('"larson"', '"larsen"', "mine.toml:4: workload: there is no workload 'larsen'"),
        ("[1, 2]", "[1, 1]", "mine.toml:9: factors.threads.levels.2: level '1' is there 2 times"),
        (
            "levels = [2]",
            "levels = []",
            "mine.toml:16: scale.small.factors.threads.levels: must not be empty",
        ),
    ],
)
def test_check_says_what_is_wrong_and_where(
    heapwright: Heapwright, mine: Path, old: str, new: str, said: str
) -> None:
    assert STUDY.count(old) == 1
    mine.write_text(STUDY.replace(old, new))
    done = heapwright("study", "check", mine)
    assert done.status == 2
    assert said in done.err
    assert "is correct" not in done.out


def test_a_billion_treatments_are_refused_before_anything_starts(
    heapwright: Heapwright, mine: Path
) -> None:
    levels = f"levels = {list(range(10))}\n"
    words = "".join(f', "{{f{place}}}"' for place in range(8))
    factors = "".join(f"[factors.f{place}]\n{levels}" for place in range(8))
    text = STUDY.replace(', "{threads}"', f', "{{threads}}"{words}')
    mine.write_text(text.replace("[factors.cpus]", f"{factors}[factors.cpus]"))
    done = heapwright("study", "check", mine)
    assert done.status == 2
    assert "400,000,000 treatments in 10 blocks: 4,000,000,000 runs" in done.err
    assert "years if a run takes a second" in done.err


def test_an_allocator_that_is_missing_is_dropped_with_what_to_do(
    heapwright: Heapwright, mine: Path
) -> None:
    level = '{ name = "f8", allocator = "hoard-f8", missing = "compose it" }'
    mine.write_text(STUDY.replace('"hoard"]', f'{level}, "./none.so"]'))
    done = heapwright("study", "check", mine)
    assert done.status == 0
    assert "dropped: allocator f8: not there: compose it" in done.out
    assert "none.so does not exist" in done.out


def test_names_that_are_no_study_and_no_scale(heapwright: Heapwright, mine: Path) -> None:
    done = heapwright("study", "show", "costa-2041")
    assert done.status == 2
    assert "there is no study 'costa-2041'" in done.err
    assert "did you mean costa-2014?" in done.err
    scale = heapwright("study", "show", mine, "--scale", "large")
    assert scale.status == 2
    assert "the study has no scale 'large'" in scale.err
    assert "there are small" in scale.err


def test_a_study_from_a_profile_and_a_trace(heapwright: Heapwright, tmp_path: Path) -> None:
    program = [sys.executable, "-c", "[bytes(1000 + n) for n in range(20000)]"]
    assert heapwright("record", "-o", "trace", "--", *program).status == 0
    assert heapwright("profile", "trace", "--json", "profile.json").status == 0
    done = heapwright("study", "from", "profile.json", "trace", "-o", "out.toml", "--name", "made")
    assert done.status == 0, done.err
    study = read_study(tmp_path / "out.toml").study
    assert study.name == "made"
    assert len(study.factors["allocations"].levels) == 1
    assert "# profile, trace" in (tmp_path / "out.toml").read_text()
    assert heapwright("study", "check", "out.toml").status == 0


def test_a_study_from_what_is_no_profile(heapwright: Heapwright, tmp_path: Path) -> None:
    (tmp_path / "no.json").write_text("{}")
    assert "no.json is not a profile" in heapwright("study", "from", "no.json").err
    assert "cannot be read" in heapwright("study", "from", "none").err
    done = heapwright("study", "from", "none", "-o", "no/folder.toml")
    assert done.status == 2
    assert "there is no folder" in done.err


def test_all_unknown_allocators_are_reported_at_once(heapwright: Heapwright, mine: Path) -> None:
    mine.write_text(STUDY.replace('"glibc", "hoard"]', '"glibc", "hord", "jemallok"]'))
    done = heapwright("study", "check", "mine.toml")
    assert done.status == 2
    for name in ("hord", "jemallok"):
        assert f"unknown allocator '{name}'" in done.err


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('from = "wall"', 'from = "wal"', "mine.toml:14: responses.time.from: cannot be 'wal'"),
        ('title = "Mine"\n', "", "mine.toml:1: title: is missing"),
        ("levels = [1, 2]", "levels = [1, [2]]", "factors.threads.levels.2: must be"),
        ("levels = [1, 2]", "levels = [1, 1]", "level '1' is there 2 times"),
    ],
)
def test_an_unknown_allocator_is_reported_with_the_errors_of_the_file(
    heapwright: Heapwright, mine: Path, right: str, wrong: str, said: str
) -> None:
    assert STUDY.count(right) == 1
    mine.write_text(STUDY.replace('"hoard"]', '"hord"]').replace(right, wrong))
    for verb in ("check", "show", "run"):
        done = heapwright("study", verb, "mine.toml")
        assert done.status == 2
        assert said in done.err
        assert "factors.allocator.levels.2: unknown allocator 'hord'" in done.err

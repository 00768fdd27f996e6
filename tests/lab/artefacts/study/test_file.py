# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Study files: each mistake in one is reported with its line."""

import re
import tomllib
from pathlib import Path

import pytest

from heapwright.artefacts.study.file import StudyError, parse_study, read_study
from heapwright.base.errors import HeapwrightError

GOOD = """format = 1
name = "good"
title = "A good study"
command = ["program", "{size.low}", "{threads}"]
stdin = "in-{threads}"
prefix = ["nice -n {nice}"]
[environment]
LC_ALL = "C"
[factors.allocator]
levels = ["glibc", { name = "one", allocator = "jemalloc", set = { MALLOC_CONF = "narenas:1" } }]
baseline = "glibc"
[factors.threads]
levels = [1, 2, 4]
[factors.size]
levels = [{ name = "small", low = 16 }, { name = "large", low = 512 }]
[factors.cpus]
role = "cpus"
levels = [1, 2]
[factors.nice]
levels = [0, 5]
[factors.arenas]
variable = "MALLOC_ARENA_MAX"
levels = [1, 8]
[[constraints]]
require = "threads >= cpus and size.low > 1"
[design]
kind = "full"
blocks = 5
discard = 1
[responses.time]
from = "wall"
[responses.rate]
from = "output"
pattern = '(?P<value>[0-9]+)'
better = "higher"
[hooks]
before_run = "echo {threads}"
[analysis]
interactions = [["threads", "cpus", "size"]]
facets = [["threads", "size"]]
scaling = [{ response = "time", by = "threads" }]
[[finding]]
id = "grows"
words = "It grows"
test = { kind = "growth", response = "time", by = "threads", above = 0.5 }
[choice]
custom = "one"
general = "glibc"
by = "size"
about = ["low"]
responses = ["rate"]
[care]
by = "nice"
responses = ["time"]
beside = ["rate"]
[bar]
level = "one"
by = "cpus"
[[bar.line]]
words = "as fast as all"
response = "time"
at_most = 1.1
each = ["nice"]
where = { arenas = 1 }
[scale.small.factors]
threads.levels = [1, 2]
[scale.small.design]
blocks = 2
"""


def changed(old: str, new: str) -> tuple[str, int]:
    """The good study with one thing changed, and the line of the change."""
    assert GOOD.count(old) == 1, f"{old!r} is there {GOOD.count(old)} times"
    return GOOD.replace(old, new), GOOD[: GOOD.index(old)].count("\n") + 1


def test_the_good_study_is_read() -> None:
    file = parse_study(GOOD)
    study = file.study
    assert list(study.factors) == ["allocator", "threads", "size", "cpus", "nice", "arenas"]
    assert (study.allocator_factor, study.cpus_factor) == ("allocator", "cpus")
    assert study.baseline == "glibc"
    assert study.factors["threads"].is_quantitative
    assert not study.factors["size"].is_quantitative
    one = study.factors["allocator"].items[1]
    assert (one.name, one.allocator, one.environment) == (
        "one",
        "jemalloc",
        {"MALLOC_CONF": "narenas:1"},
    )
    assert study.factors["arenas"].items[1].environment == {"MALLOC_ARENA_MAX": "8"}
    assert study.factors["size"].items[0].keys == {"low": 16}
    assert study.responses["time"].unit_text == "s"
    assert len(file.sha256) == 64


def test_a_scale_replaces_what_it_names_and_keeps_the_rest() -> None:
    small = parse_study(GOOD, scale="small").study
    whole = parse_study(GOOD).study
    assert small.factors["threads"].names == ("1", "2")
    assert (small.design.blocks, small.design.discard) == (2, 1)
    assert whole.factors["threads"].names == ("1", "2", "4")
    assert small.factors["size"] == whole.factors["size"]


def test_a_response_with_an_origin_is_replaced_as_a_whole_at_a_scale() -> None:
    counted = GOOD + '[scale.counted.responses.rate]\nfrom = "cachegrind"\n'
    rate = parse_study(counted, scale="counted").study.responses["rate"]
    assert (rate.origin, rate.pattern, rate.better) == ("cachegrind", None, "lower")
    titled = GOOD + '[scale.titled.responses.rate]\ntitle = "Rate"\n'
    rate = parse_study(titled, scale="titled").study.responses["rate"]
    assert (rate.origin, rate.title, rate.better) == ("output", "Rate", "higher")


def test_a_scale_with_findings_has_only_these() -> None:
    stated = """
[[scale.small.finding]]
id = "another"
words = "Time is below a second"
test = { kind = "value", response = "time", below = 1 }
"""
    assert [each.id for each in parse_study(GOOD + stated, scale="small").study.findings] == [
        "another"
    ]
    assert [each.id for each in parse_study(GOOD + stated).study.findings] != ["another"]


UNKNOWN_SCALE = "the study has no scale 'smal'"


def test_an_unknown_scale_is_refused_with_the_nearest() -> None:
    with pytest.raises(HeapwrightError, match=UNKNOWN_SCALE) as caught:
        parse_study(GOOD, scale="smal")
    assert caught.value.hint == "did you mean small?"


def test_without_scales_the_error_says_how_to_get_one() -> None:
    whole = re.sub(r"\[scale\.small.*?\n(?=\[|\Z)", "", GOOD, flags=re.DOTALL)
    with pytest.raises(HeapwrightError, match="no scale 'small'") as caught:
        parse_study(whole, scale="small")
    assert caught.value.hint == "run it without --scale, or add [scale.small] to the file"


WRONG = [
    dict(zip(("what", "old", "new", "why", "at"), wrong, strict=False))
    for name in (
        "wrong_studies.toml",
        "wrong_substitution.toml",
        "wrong_sensitivity.toml",
        "wrong_acceptance.toml",
    )
    for wrong in tomllib.loads((Path(__file__).parent / name).read_text("utf-8"))["wrong"]
]


@pytest.mark.parametrize("wrong", WRONG, ids=[wrong["what"] for wrong in WRONG])
def test_errors_are_reported_with_their_line(wrong: dict[str, str]) -> None:
    text, line = changed(wrong["old"], wrong["new"])
    with pytest.raises(StudyError) as caught:
        parse_study(text, "x.toml")
    said = [caught.value.message, *caught.value.hint.splitlines()]
    about = next((each for each in said if wrong["why"] in each), f"none of {said}")
    file, number, _ = about.split(":", 2)
    assert file == "x.toml", about
    if "at" in wrong:
        assert text.splitlines()[int(number) - 1] == wrong["at"], about
    else:
        assert line <= int(number) <= line + wrong["new"].count("\n"), about


@pytest.mark.parametrize("key", ["name", "format", "scale"])
def test_a_scale_is_of_the_same_study(key: str) -> None:
    text, line = changed("[scale.small.design]", f"[scale.small.{key}]\n[scale.small.design]")
    with pytest.raises(StudyError, match=f"{key} is the same at every scale") as caught:
        parse_study(text, scale="small")
    assert caught.value.lines == (line,)


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        ("baseline =", "basline =", "did you mean baseline?"),
        ('"{threads}"]', '"{thread}"]', "did you mean threads?"),
        ('from = "wall"', 'from = "walls"', "did you mean wall?"),
        ("threads >= cpus and", "threads >= cpu and", "did you mean cpus?"),
        ('"{size.low}"', '"{size.lo}"', "did you mean low?"),
    ],
)
def test_the_nearest_name_is_the_hint(old: str, new: str, hint: str) -> None:
    with pytest.raises(StudyError) as caught:
        parse_study(changed(old, new)[0])
    assert hint in caught.value.hint


def test_everything_that_is_wrong_is_reported_at_once_and_in_order() -> None:
    text = GOOD.replace("{size.low}", "{size.hi}").replace("threads >= cpus", "thread >= cpu")
    with pytest.raises(StudyError) as caught:
        parse_study(text, "x.toml")
    assert caught.value.lines == (4, 25, 25)
    said = "\n".join([caught.value.message, caught.value.hint])
    assert said.count("x.toml:") == 3


def test_an_error_in_a_scale_is_reported_with_its_line() -> None:
    text = GOOD.replace("threads.levels = [1, 2]", "threads.levels = [1, 1]")
    with pytest.raises(
        StudyError, match=r"x.toml:\d+: scale.small.factors.threads.levels.2: .*2 times"
    ) as caught:
        parse_study(text, "x.toml", "small")
    assert text.splitlines()[caught.value.lines[0] - 1].startswith("threads.levels")


def test_a_level_that_only_the_whole_has_may_be_in_a_finding() -> None:
    rule = '{ kind = "value", response = "time", where = { threads = 4 }, above = 1 }'
    old = '{ kind = "growth", response = "time", by = "threads", above = 0.5 }'
    text, _ = changed(old, rule)
    assert parse_study(text, scale="small").study.factors["threads"].names == ("1", "2")
    with pytest.raises(StudyError, match="no level '3' in threads"):
        parse_study(text.replace("threads = 4", "threads = 3"))


def test_a_finding_has_no_exponent_of_what_is_no_number() -> None:
    text, line = changed('by = "threads", above = 0.5', 'by = "size", above = 0.5')
    with pytest.raises(StudyError, match="no exponent of a factor that is no number") as caught:
        parse_study(text)
    assert caught.value.lines == (line,)


def test_a_model_key_is_written_as_in_the_file_only() -> None:
    with pytest.raises(StudyError, match="there is no such key"):
        parse_study(GOOD.replace('from = "wall"', 'from = "wall"\norigin = "wall"'))


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="cannot be read: No such file"):
        read_study(tmp_path / "no.toml")
    with pytest.raises(HeapwrightError, match="cannot be read: Is a directory"):
        read_study(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(HeapwrightError, match="no text in UTF-8"):
        read_study(binary)
    large = tmp_path / "large.toml"
    with large.open("wb") as file:
        file.truncate(5 << 20)
    with pytest.raises(HeapwrightError, match="too large"):
        read_study(large)
    deep = tmp_path / "deep.toml"
    deep.write_text("a = " + "[" * 5000 + "]" * 5000)
    with pytest.raises(HeapwrightError, match="too deeply"):
        read_study(deep)
    empty = tmp_path / "empty.toml"
    empty.touch()
    with pytest.raises(StudyError, match=r"empty.toml:1: \w+: is missing"):
        read_study(empty)


def test_a_wrong_field_hides_no_other_mistake() -> None:
    """What one field alone cannot tell is said beside it, and so is what is wrong at a scale."""
    wrong = GOOD.replace('from = "wall"', 'from = "walls"', 1)
    wrong = wrong.replace("{threads}", "{treads}", 1).replace("levels = [0, 5]", "levels = [5, 5]")
    wrong += "[scale.middle.design]\nblocks = 1\n[scale.tiny]\nname = 'other'\ndesgin = 1\n"
    with pytest.raises(StudyError) as caught:
        parse_study(wrong, "x.toml")
    told = {".".join(map(str, problem.keys)): problem.text for problem in caught.value.problems}
    assert told["responses.time.from"] == "cannot be 'walls'"
    assert "treads" in told["command.2"]
    assert "2 times" in told["factors.nice.levels.1"]
    assert "none is left to analyse" in told["scale.middle.design.discard"]
    assert told["scale.tiny.name"] == "name is the same at every scale"
    assert told["scale.tiny.desgin"] == "there is no such key"
    assert len(told) == 6
    assert list(caught.value.lines) == sorted(caught.value.lines)


def test_consequences_of_a_wrong_field_are_not_reported() -> None:
    wrong = GOOD.replace("levels = [1, 2, 4]", 'levels = "1, 2, 4"')
    wrong = wrong.replace('from = "wall"', "frm = 'wall'", 1)
    with pytest.raises(StudyError) as caught:
        parse_study(wrong, "x.toml")
    places = {".".join(map(str, problem.keys)) for problem in caught.value.problems}
    assert places == {"factors.threads.levels", "responses.time.frm", "responses.time.from"}


def test_a_factor_that_no_program_receives_is_refused_with_the_line_to_write() -> None:
    text = """format = 1
name = "lines"
title = "Lines"
program = "sort"
[factors.allocator]
levels = ["glibc"]
[factors.lines]
levels = [1, 2]
[design]
blocks = 2
[responses.time]
from = "wall"
"""
    with pytest.raises(StudyError) as caught:
        parse_study(text, "x.toml")
    assert 'write parameters = { lines = "{lines}" }' in caught.value.message
    passed_on = 'program = "sort"\nparameters = { lines = "{lines}" }'
    assert (
        parse_study(text.replace('program = "sort"', passed_on), "x.toml").study.program == "sort"
    )

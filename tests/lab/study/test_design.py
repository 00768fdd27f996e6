# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a study comes to: treatments, what is dropped or left out, and what is far too large."""

import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.study.file import StudyError, StudyFile, parse_study
from heapwright.base.errors import HeapwrightError
from heapwright.study import combinations
from heapwright.study.design import DesignedStudy, Machine, allocators_of, build_design

MakeStudy = Callable[..., StudyFile]
LARGE = Machine(64)
SIX = {"allocator": ["a", "b"], "threads": [1, 2, 4], "cpus": [1, 2, 4]}


def designed(file: StudyFile, machine: Machine = LARGE, seed: int = 1) -> DesignedStudy:
    return build_design(file, machine, seed)


def test_a_full_design_has_every_combination_once(make_study: MakeStudy) -> None:
    design = designed(make_study(SIX))
    assert len(design.treatments) == 18
    assert len({each.id for each in design.treatments}) == 18
    first = design.treatments[0]
    assert first.levels == {"allocator": "a", "threads": "1", "cpus": "1"}
    assert first.command == ("true", "a", "1", "1")
    assert (first.allocator, first.cpus) == ("a", 1)
    assert (design.baseline, design.dropped, design.excluded) == ("a", (), ())
    assert (
        str(design.extent) == "18 treatments in 10 blocks: 180 runs, 3 min if a run takes a second"
    )


def test_the_id_of_a_treatment_does_not_depend_on_other_levels(make_study: MakeStudy) -> None:
    def ids(file: StudyFile) -> dict[str, str]:
        return {" ".join(each.levels.values()): each.id for each in designed(file).treatments}

    some = ids(make_study({"threads": [4, 1], "cpus": [2]}))
    more = ids(make_study({"threads": [1, 2, 4], "cpus": [1, 2]}))
    assert {key: more[key] for key in some} == some


def test_unavailable_responses_are_dropped_and_named(make_study: MakeStudy) -> None:
    design = designed(make_study(SIX), Machine(2, {"a": "not installed"}))
    assert [(each.factor, each.level, each.because) for each in design.dropped] == [
        ("allocator", "a", "not installed"),
        ("cpus", "4", "there are 2 processors here"),
    ]
    assert len(design.treatments) == 6
    assert design.baseline == "b"
    assert design.notes == ("the baseline a is not there; b is in its place",)


def test_a_machine_that_gives_nothing_makes_an_empty_design(make_study: MakeStudy) -> None:
    with pytest.raises(
        StudyError, match=r"x.toml:8: factors.allocator.levels: the design is empty"
    ):
        designed(make_study(SIX), Machine(2, {"a": "gone", "b": "gone too"}))


def test_constraints_leave_out_and_are_counted(make_study: MakeStudy) -> None:
    rules = ["threads >= cpus", "allocator != 'b' or threads > 1"]
    design = designed(make_study(SIX, require=rules))
    # The second question comes first, because its factors come first. Of what it leaves out, two
    # break both.
    assert [each.count for each in design.excluded] == [4, 3]
    assert [each.require for each in design.excluded] == rules
    assert len(design.treatments) == 11
    assert all(int(t.levels["threads"]) >= int(t.levels["cpus"]) for t in design.treatments)


def test_a_level_of_which_constraints_leave_nothing_is_dropped(make_study: MakeStudy) -> None:
    design = designed(make_study(SIX, require=["allocator == 'b' and threads != 2"]))
    assert [(each.factor, each.level) for each in design.dropped] == [
        ("allocator", "a"),
        ("threads", "2"),
    ]
    assert "the constraints leave out every treatment" in design.dropped[0].because
    assert [level.name for level in design.levels["threads"]] == ["1", "4"]
    assert design.baseline == "b"


def test_constraints_that_leave_nothing_are_named(make_study: MakeStudy) -> None:
    with pytest.raises(StudyError, match="the constraints leave out all 18 treatments") as caught:
        designed(make_study(SIX, require=["threads > 0", "threads > 9"]))
    assert "constraints.2.require" in caught.value.message
    assert "threads > 9: leaves out 18" in caught.value.hint


def test_a_constraint_that_cannot_be_decided_is_reported_with_its_line(
    make_study: MakeStudy,
) -> None:
    with pytest.raises(StudyError, match=r"x.toml:\d+: constraints.1.require: .* not of a kind"):
        designed(make_study(SIX, require=["threads == '4'"]))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting ends sooner than it need."""
    monkeypatch.setattr(combinations, "MOST_ANSWERS", 2_000)


BILLION = {f"f{place}": list(range(10)) for place in range(9)}


def test_a_billion_treatments_are_refused_with_their_size_and_without_making_them(
    make_study: MakeStudy,
) -> None:
    file = make_study(BILLION)
    tracemalloc.start()
    try:
        with pytest.raises(StudyError) as caught:
            designed(file)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "1,000,000,000 treatments in 10 blocks: 10,000,000,000 runs" in caught.value.message
    assert "317 years if a run takes a second" in caught.value.message
    assert "a share = 0.0001" in caught.value.hint
    assert used < 20 << 20


def test_a_billion_with_a_constraint_is_counted_without_being_listed(make_study: MakeStudy) -> None:
    with pytest.raises(StudyError, match="too large: 550,000,000 treatments"):
        designed(make_study(BILLION, require=["f0 >= f1"]))


ALL_OF_THEM = " + ".join(BILLION)


@pytest.mark.usefixtures("impatient")
def test_uncountable_figures_are_estimates(make_study: MakeStudy) -> None:
    with pytest.raises(
        StudyError, match=r"too large: about 5[0-9]{2},[0-9]{3},[0-9]{3} treatments"
    ):
        designed(make_study(BILLION, require=[f"{ALL_OF_THEM} > 39"]))


@pytest.mark.usefixtures("impatient")
def test_few_among_too_many_are_not_searched_for(make_study: MakeStudy) -> None:
    factors = dict(list(BILLION.items())[:7])
    file = make_study(factors, require=[f"{' + '.join(factors)} < 13"])
    with pytest.raises(StudyError, match=r"10,000,000 combinations are too many .*: about 4[0-9],"):
        designed(file)


@pytest.mark.usefixtures("impatient")
def test_a_constraint_that_no_draw_satisfies_looks_empty(make_study: MakeStudy) -> None:
    with pytest.raises(StudyError, match="is empty: as far as a sample tells, the constraints"):
        designed(make_study(BILLION, require=[f"{ALL_OF_THEM} > 99"]))


def test_few_among_too_many_are_found_where_constraints_come_early(make_study: MakeStudy) -> None:
    rules = [f"f{place} == f{place + 1}" for place in range(8)]
    design = designed(make_study(BILLION, require=rules))
    assert len(design.treatments) == 10
    assert [each.count for each in design.excluded] == [9 * 10**power for power in range(8, 0, -1)]


def test_too_many_runs_are_refused_at_the_blocks(make_study: MakeStudy) -> None:
    with pytest.raises(StudyError, match=r"design.blocks: .*18,000,000 runs.*most is 10,000,000"):
        designed(make_study(SIX, "blocks = 1000000"))


def test_a_fraction_of_a_billion_is_made_without_the_rest(make_study: MakeStudy) -> None:
    design = designed(make_study(BILLION, 'kind = "fraction"\nshare = 1e-7', require=["f0 != f1"]))
    assert 80 <= len(design.treatments) <= 100
    assert all(each.levels["f0"] != each.levels["f1"] for each in design.treatments)
    counts = [Counter(each.levels[name] for each in design.treatments) for name in BILLION]
    assert max(max(count.values()) - min(count.values()) for count in counts) <= 2
    assert "90 cells of 900,000,000, by chance (seed 1)" in design.notes[0]


@pytest.mark.usefixtures("impatient")
def test_a_fraction_of_what_is_hardly_ever_allowed_is_refused(make_study: MakeStudy) -> None:
    factors = dict(list(BILLION.items())[:7])
    rules = [f"{' + '.join(factors)} < 13"]
    with pytest.raises(StudyError, match="too few of too many to be found by chance"):
        designed(make_study(factors, 'kind = "fraction"\nshare = 0.1', require=rules))


def test_a_fraction_of_allocators_alone_is_refused(make_study: MakeStudy) -> None:
    file = make_study({"allocator": ["a", "b"]}, 'kind = "fraction"\nshare = 0.5')
    with pytest.raises(StudyError, match="there is no factor but the allocators'"):
        designed(file)


def test_a_fraction_is_run_under_every_allocator(make_study: MakeStudy) -> None:
    file = make_study(SIX, 'kind = "fraction"\nshare = 0.67')
    design = designed(file)
    cells = Counter((t.levels["threads"], t.levels["cpus"]) for t in design.treatments)
    assert len(cells) == 6
    assert set(cells.values()) == {2}
    assert "6 cells of 9, by chance (seed 1)" in design.notes[0]
    assert design.treatments == designed(file).treatments
    others = {tuple(t.id for t in designed(file, seed=seed).treatments) for seed in range(9)}
    assert len(others) > 1


def test_a_share_that_is_too_small_for_the_levels_is_refused(make_study: MakeStudy) -> None:
    with pytest.raises(StudyError, match="2 cells are too few: a factor has 3 levels") as caught:
        designed(make_study(SIX, 'kind = "fraction"\nshare = 0.2'))
    assert "design.share" in caught.value.message
    assert caught.value.hint == "at least share = 0.33"


def test_a_regular_fraction_is_named_with_its_resolution(make_study: MakeStudy) -> None:
    file = make_study(SIX, 'kind = "fraction"\ndefining = ["threads*cpus"]')
    design = designed(file)
    assert len(design.treatments) == 6
    assert "3 cells of 9, 1 in 3, by threads*cpus; resolution II" in design.notes[0]
    # Two of three processors are left: the words no longer fit.
    with pytest.raises(StudyError, match="different numbers of levels: threads 3, cpus 2"):
        designed(file, Machine(2))


def test_constraints_on_a_regular_fraction_are_reported_to_unbalance_it(
    make_study: MakeStudy,
) -> None:
    text = 'kind = "fraction"\ndefining = ["threads*cpus"]'
    design = designed(make_study(SIX, text, require=["threads != 1"]))
    assert len(design.treatments) == 4
    assert "so it is unbalanced" in design.notes[1]


def test_a_study_without_allocators(make_study: MakeStudy) -> None:
    file = make_study({"threads": [1, 2]})
    (one, _) = designed(file).treatments
    assert (one.allocator, one.preload, one.cpus) == (None, True, None)
    assert designed(file).baseline is None
    assert allocators_of(file) == []


def test_allocators_by_path_are_found_from_the_file(make_study: MakeStudy) -> None:
    own = [{"name": "own", "preload": False}]
    paths = ["./mine.so", "x=/lib/y.so", "/a=b/z.so"]
    file = make_study({"allocator": ["glibc", *paths, *own]})
    here = str(file.folder)
    found = [wanted.allocator for wanted in allocators_of(file)]
    assert found == ["glibc", f"{here}/mine.so", "x=/lib/y.so", "/a=b/z.so"]
    design = designed(file, Machine(1, {f"{here}/mine.so": "no such file"}))
    assert [each.level for each in design.dropped] == ["./mine.so"]
    assert [(t.allocator, t.preload) for t in design.treatments][-1] == ("own", False)


FILLED = """format = 1
name = "filled"
title = "x"
workload = "{load}"
arguments = ["{size.low}", "{folder}"]
prefix = ["nice -n '{level}'", ""]
stdin = "in-{load}"
cwd = "/tmp/{load}"
environment = { A = "{load}", B = "study", C = "study" }
[factors.load]
levels = ["larson"]
[factors.size]
levels = [{ name = "s", low = 3, set = { B = "{size.low}", C = "size" } }]
[factors.level]
levels = [{ name = "l", value = 7, prefix = ["wrap", "{size.name}"], set = { C = "level" } }]
[factors.knob]
variable = "D"
levels = ["{load}"]
[responses.time]
from = "wall"
"""


def test_everything_is_filled_in() -> None:
    file = parse_study(FILLED)
    (treatment,) = build_design(file, LARGE, 1, programs=lambda name: f"/w/{name}").treatments
    folder = str(file.folder)
    assert treatment.command == ("/w/larson", "3", folder)
    assert treatment.prefix == ("nice", "-n", "7", "wrap", "s")
    assert treatment.environment == {"A": "larson", "B": "3", "C": "level", "D": "{load}"}
    assert treatment.stdin == f"{folder}/in-larson"
    assert treatment.cwd == "/tmp/larson"
    assert treatment.values["size"] == {"name": "s", "low": 3}
    assert treatment.values["level"] == 7


def test_a_workload_that_is_not_there_is_reported_with_the_line() -> None:
    def missing(name: str) -> str:
        raise HeapwrightError(f"there is no workload {name!r}", "did you mean it?")

    with pytest.raises(StudyError, match=r"the study:4: workload: there is no workload 'larson'"):
        build_design(parse_study(FILLED), LARGE, 1, programs=missing)
    text = FILLED.replace('"{load}"\narg', '"x"\narg').replace("{size.low}", "{workload:y}", 1)
    with pytest.raises(StudyError, match=r"arguments.1: there is no workload 'y'"):
        build_design(parse_study(text), LARGE, 1, programs=lambda n: n if n == "x" else missing(n))


def test_an_unbalanced_quote_in_a_prefix_is_refused_with_its_line() -> None:
    text = FILLED.replace("nice -n '{level}'", "nice '{level}")
    with pytest.raises(StudyError, match=r"the study:6: prefix.1: .*cannot be split into words"):
        build_design(parse_study(text), LARGE, 1, programs=str)


@pytest.mark.parametrize(
    ("trace", "filled"), [("t-{load}", "/t-larson"), ("synth:{load}", "synth:larson")]
)
def test_a_trace_is_a_path_or_a_re_created_one(trace: str, filled: str) -> None:
    text = FILLED.replace('workload = "{load}"\narguments = ["{size.low}", "{folder}"]', "")
    file = parse_study(text.replace('title = "x"', f'title = "x"\ntrace = "{trace}"'))
    (treatment,) = build_design(file, LARGE, 1).treatments
    assert treatment.trace == filled.replace("/t", f"{file.folder}/t")
    assert treatment.command == ()


NEEDS = """
[factors.tool]
levels = [
  { name = "here", file = "./input", needs = ["sh", "{folder}", "{tool.file}", "python:json"] },
  { name = "no program", file = "", needs = ["sh", "no-such-program-anywhere"] },
  { name = "no file", file = "", needs = ["{folder}/gone"] },
  { name = "no module", file = "", needs = ["python:no_such_module.inside"] },
  { name = "no name", file = "", needs = ["python:not a module"] },
  { name = "no workload", file = "", needs = ["{workload:gone}"] },
]
"""


def _needing(folder: Path, needs: str = NEEDS) -> StudyFile:
    (folder / "input").touch()
    text = 'format = 1\nname = "x"\ntitle = "x"\ncommand = ["true", "{tool}"]\n' + needs
    return parse_study(text + '[responses.time]\nfrom = "wall"\n', "x.toml", None, folder)


def test_a_level_whose_needs_are_not_here_is_dropped_and_named(tmp_path: Path) -> None:
    def missing(name: str) -> str:
        raise HeapwrightError(f"there is no workload {name!r}")

    design = build_design(_needing(tmp_path), LARGE, 1, programs=missing)
    assert [level.name for level in design.levels["tool"]] == ["here"]
    assert {each.level: each.because for each in design.dropped} == {
        "no program": "there is no program no-such-program-anywhere",
        "no file": f"there is no {tmp_path}/gone",
        "no module": "there is no Python module no_such_module.inside",
        "no name": "there is no Python module not a module",
        "no workload": "there is no workload 'gone'",
    }


def test_the_needs_of_a_level_may_name_only_that_level(tmp_path: Path) -> None:
    other = '[factors.other]\nlevels = ["o"]\n'
    needs = NEEDS.replace("{tool.file}", "{other}") + other
    file = _needing(tmp_path, needs.replace('command = ["true"', 'command = ["true", "{other}"'))
    with pytest.raises(StudyError, match=r"factors.tool.levels: there is no factor 'other'"):
        build_design(file, LARGE, 1, programs=str)


def test_templates_name_our_compiled_parts_and_our_interpreter(
    make_study: MakeStudy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HEAPWRIGHT_NATIVE", str(tmp_path))
    more = '[environment]\nWHERE = "{native}/lib"\nWITH = "{python}"'
    (treatment,) = designed(make_study({"load": ["a"]}, more=more)).treatments
    assert treatment.environment == {"WHERE": f"{tmp_path}/lib", "WITH": sys.executable}

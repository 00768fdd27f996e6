# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright tailor`: what it refuses, and one short search of two proposals from end to end."""

import fcntl
import json
import os
import shutil
from collections import Counter
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from heapwright.analysis.looks import fixed
from heapwright.artefacts.comparison.document import Comparison, Design
from heapwright.artefacts.run.measured import Run
from heapwright.artefacts.tailoring.advice import Advice
from heapwright.artefacts.tailoring.document import Proof
from heapwright.artefacts.tailoring.folder import Replayed, TailorFolder
from heapwright.artefacts.tailoring.inputs import Input
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands import (
    tailor,
    tailor_answer,
    tailor_candidates,
    tailor_proof,
    tailor_race,
    tailor_refine,
    tailor_steps,
)
from heapwright.commands.tailor_answer import Options, Search
from heapwright.commands.tailor_candidates import Candidate
from heapwright.compose.compiler import CANDIDATES
from heapwright.compose.library import build_library
from heapwright.compose.workshop import NotComposableError
from heapwright.experiment.measurement import Measurement
from heapwright.tailor.figures import Figures
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.proposals import propose
from heapwright.tailor.refinement import Variants, neighbours
from support.documents import made
from support.tailoring import QUESTION

from .tailoring import composed, shorten
from .tools import Done, Heapwright, compile_c, forwarding

pytestmark = pytest.mark.usefixtures("native")


def refused(done: Done, *words: str, status: ExitCode = ExitCode.BAD_INPUT) -> None:
    assert done.status == status, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


def test_a_command_or_traces_are_needed(heapwright: Heapwright, worker: Path) -> None:
    refused(heapwright("tailor"), "no command and no trace")
    refused(heapwright("tailor", worker), "stands after --")
    assert heapwright("record", "-o", "run.trace", "--", worker).status == 0
    refused(heapwright("tailor", "run.trace", "--", worker), "stands beside a command")
    refused(heapwright("tailor", "--unseen", "'", "--", worker), "--unseen", "cannot be read")


def test_a_name_of_the_catalogue_is_refused(heapwright: Heapwright, worker: Path) -> None:
    refused(heapwright("tailor", "--name", "kingsley", "--", worker), "in the catalogue already")


def test_without_a_compiler_the_proposals_are_printed(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("tailor", "--compiler", "no-such-c++", "-o", "search", "--", worker)
    refused(done, "there is no compiler 'no-such-c++'", "need no compiler")
    assert "allocations of" in done.out
    assert "caches-" in done.out
    assert "% of the requests" in done.out
    assert not (tmp_path / "search").exists()


@pytest.mark.usefixtures("cxx")
def test_a_budget_that_no_compilation_fits_is_refused(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("tailor", "--budget", "0.01", "-o", "search", "--", worker)
    refused(done, "the budget of 0.01 min is too small", "--budget ")
    assert not (tmp_path / "search").exists()


def test_a_program_without_allocations_is_refused(heapwright: Heapwright, tmp_path: Path) -> None:
    program = compile_c(tmp_path / "none", "int main(void) { return 0; }")
    refused(heapwright("tailor", "--", program), "nothing to fit an allocator to")


def test_advice_names_the_function_whose_objects_die_together(
    heapwright: Heapwright, worker: Path
) -> None:
    done = heapwright("tailor", "--advise", "--", worker)
    assert done.status == 0, done.err
    assert "Make a region in main: 210.9 KiB of 2,001 objects die with it" in done.out
    assert "region = heapwright_region_create(NULL); /* in main */" in done.out
    assert heapwright("record", "-o", "run.trace", "--", worker).status == 0
    refused(heapwright("tailor", "--advise", "run.trace"), "no call stacks", "record --stacks")
    done = heapwright("tailor", "--advise", "--name", "a", "--budget", "15", "--", worker)
    refused(done, "leave out --name, --budget")


def test_advice_is_also_a_document(heapwright: Heapwright, worker: Path, tmp_path: Path) -> None:
    done = heapwright("tailor", "--advise", "-q", "--json", "-", "--", worker)
    assert done.status == 0, done.err
    advice = Advice.model_validate_json(done.out)
    assert advice.answer in done.err
    assert advice.input == (str(worker),)
    (region,) = advice.regions
    assert (region.function, region.objects) == ("main", 2001)
    assert advice.bytes >= region.bytes > 200_000
    assert "heapwright_region_destroy" in region.sketch
    assert heapwright("record", "--stacks", "-o", "run.trace", "--", worker).status == 0
    refused(heapwright("tailor", "--advise", "--json", "run.trace", "run.trace"), "is to be read")
    assert heapwright("tailor", "--advise", "--json", "again.json", "run.trace").status == 0
    again = Advice.model_validate_json((tmp_path / "again.json").read_bytes())
    assert again == advice.model_copy(update={"input": ("run.trace",)})


def test_a_failing_input_ends_the_search_before_it_begins(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    fails = compile_c(tmp_path / "fails", "int main(void) { return 3; }")
    status = ExitCode.NOTHING_COMPARED
    refused(heapwright("tailor", "--", fails), "failed while it was recorded", status=status)
    done = heapwright("tailor", "--unseen", str(fails), "--", worker)
    refused(done, "nothing can be judged", status=status)


def test_a_folder_of_something_else_is_refused(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    refused(heapwright("tailor", "-o", "mine", "--", worker), "holds other files")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "question.json").write_text("{")
    refused(heapwright("tailor", "-o", "damaged", "--", worker), "question", "damaged")
    assert (tmp_path / "mine" / "notes.txt").exists()


def test_two_searches_in_one_folder_are_refused(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    (tmp_path / "search").mkdir()
    with (tmp_path / "search" / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = heapwright("tailor", "-o", "search", "--", worker)
    refused(done, "another heapwright searches in search", "another folder with -o")


def test_a_lock_that_is_a_symbolic_link_is_refused(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "lock").symlink_to(tmp_path / "elsewhere")
    refused(heapwright("tailor", "-o", "search", "--", worker), "lock is no regular file")
    assert not (tmp_path / "elsewhere").exists()


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cxx: None) -> None:
    del cxx
    shorten(monkeypatch, forwarding(tmp_path / "good.so", limit=1_000_000_000))


@pytest.mark.usefixtures("short")
def test_a_tailored_allocator_that_fails_on_the_unseen_input_is_no_answer(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = forwarding(tmp_path / "bad.so", "abort()", limit=1000)
    monkeypatch.setattr(tailor_proof, "compose", composed(bad))
    words = ("tailor", "--unseen", f"{worker} 3000", "--name", "own", "--json", "out.json")
    done = heapwright(*words, "--", worker, "2000")
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert document["finished"]
    assert document["answer"]["action"] == "existing"
    assert document["answer"]["allocator"] in {"glibc", "granary"}
    assert f"own failed in runs of {worker} 3000" in document["answer"]["notes"]


ABORT_IN_THE_THIRD = """
    extern int mkdir(const char *, unsigned);
    static int seen;
    if (!seen++ && mkdir("FOLDER/1", 448) && mkdir("FOLDER/2", 448) && !mkdir("FOLDER/3", 448)) {
        abort();
    }
"""


@pytest.mark.usefixtures("short")
def test_a_tailored_allocator_that_aborts_in_one_run_of_several_is_no_answer(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = forwarding(tmp_path / "bad.so", ABORT_IN_THE_THIRD.replace("FOLDER", str(tmp_path)))
    monkeypatch.setattr(tailor_proof, "compose", composed(bad))
    words = ("tailor", "-o", "search", "--name", "own", "--json", "out.json", "--", worker, "2000")
    for _ in range(2):
        done = heapwright(*words)
        assert done.status == 0, done.err
        assert (tmp_path / "3").exists()
        answer = json.loads((tmp_path / "out.json").read_text("utf-8"))["answer"]
        assert answer["action"] == "existing"
        assert f"own failed in runs of {worker} 2000" in answer["notes"]
        assert list((tmp_path / "search").glob("judged-0-*.json")), "the runs are complete"


@pytest.mark.usefixtures("short")
def test_an_interrupted_proof_delivers_nothing_and_a_lost_header_is_made_again(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    assert heapwright("record", "-o", "more.trace", "--", worker).status == 0
    good = forwarding(tmp_path / "proved.so", limit=1_000_000_000)
    monkeypatch.setattr(tailor_proof, "compose", composed(good))
    compiler = next(filter(shutil.which, CANDIDATES))
    begin = ("tailor", "-o", "search", "--name", "own", "--json", "out.json", "--compiler")
    words = (*begin, compiler, "--input", "more.trace", "--", worker, "2000")
    with monkeypatch.context() as patched:
        patched.setattr(tailor_proof, "examined", interrupted)
        assert heapwright(*words).status == ExitCode.INTERRUPTED
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert [document[each] for each in ("header", "library", "rebuild", "winner")] == [""] * 4
    shutil.rmtree(tmp_path / "search" / "allocators")
    assert heapwright(*words).status == 0
    header, library = tmp_path / "search" / "own.hpp", "search/allocators/own"
    header.unlink()
    shutil.rmtree(tmp_path / library)
    done = heapwright(*words)
    assert done.status == 0, done.err
    assert header.exists()
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert document["rebuild_from_trace"].endswith(
        f" --input more.trace --compiler {compiler} search/input-0.trace"
    )
    assert document["rebuild"].endswith(f" --compiler {compiler}")


@pytest.mark.usefixtures("short")
def test_a_failure_by_a_limit_keeps_the_candidate_out_of_this_search_alone(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slow(sentence: Sentence, *_: object) -> tuple[Proof, bool]:
        return Proof(candidate=sentence.name, failed=("larson: not over in 120 s",)), False

    good = forwarding(tmp_path / "proved.so", limit=1_000_000_000)
    monkeypatch.setattr(tailor_proof, "compose", composed(good))
    words = ("tailor", "-o", "search", "--name", "own", "--", worker, "2000")
    with monkeypatch.context() as patched:
        patched.setattr(tailor_proof, "examined", slow)
        assert "is not proved: larson: not over in 120 s" in heapwright(*words).out
    done = heapwright(*words)
    assert done.status == 0, done.err
    assert "passed 7 conformance cases" in done.out


@pytest.mark.usefixtures("short")
def test_a_race_without_one_of_the_finalists_is_run_again(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = forwarding(tmp_path / "proved.so", limit=1_000_000_000)
    monkeypatch.setattr(tailor_proof, "compose", composed(good))
    monkeypatch.setattr(tailor, "propose", lambda figures: propose(figures)[:2])
    words = ("tailor", "-o", "search", "--name", "own", "--json", "out.json", "--", worker, "2000")
    raced = []
    for place in (0, 1):
        monkeypatch.setattr(tailor, "finalists", lambda found, at=place: [list(found)[at]])
        assert heapwright(*words).status == 0
        document = json.loads((tmp_path / "out.json").read_text("utf-8"))
        assert document["winner"] in document["raced"]
        raced.append(document["winner"])
    assert raced[0] != raced[1]
    assert len(list((tmp_path / "search").glob("judged-0-*.json"))) == 2
    digest = (tmp_path / "search" / "allocators" / "own" / "digest").read_text("utf-8")
    assert list(json.loads((tmp_path / "search" / "proofs.json").read_text("utf-8")))[1] == digest


@pytest.mark.usefixtures("short")
def test_a_step_that_does_not_compile_is_a_note(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise NotComposableError("the proposal does not compile", "")

    good = forwarding(tmp_path / "proved.so", limit=1_000_000_000)
    monkeypatch.setattr(tailor_proof, "compose", composed(good))
    monkeypatch.setattr(tailor_steps, "compile_all", failing)
    done = heapwright("tailor", "--name", "own", "--", worker, "2000")
    assert done.status == 0, done.err
    note = "the value of each step was not measured: the proposal does not compile"
    assert note in " ".join(done.out.split())


def test_words_that_are_not_utf8_are_refused(heapwright: Heapwright, worker: Path) -> None:
    refused(heapwright("tailor", "--", worker, "\udcff"), "is not UTF-8")


def test_times_choose_the_finalists_if_few_were_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tailor, "can_count", lambda: True)
    timed, counted = Replayed(seconds=1), Replayed(seconds=1, instructions=9)
    failed = Replayed(seconds=1, not_counted="no memory")
    notes = tailor._count_notes  # noqa: SLF001
    assert notes({"a": counted, "b": counted, "c": timed, "glibc": timed}, "abc") == ()
    (note,) = notes({"a": timed, "b": timed, "glibc": counted}, "ab")
    assert "s of the budget" in note
    (note,) = notes({"a": failed, "b": counted, "glibc": counted}, "ab")
    assert note.endswith("1 of 2 could not be counted (no memory)")


def test_the_refinement_leaves_the_time_of_the_judgement() -> None:
    """Of each unseen input 15 blocks of four runs and one warm-up, and a minute for the proof."""
    unseen = Input(("job", "two")), Input(("job", "three"))
    options = Options(
        (Input(("job",)),), unseen, "own", None, 1000, None, 0.02, (), 1, None, None, True
    )
    race = made(
        Comparison,
        design=made(Design, baseline="glibc", confidence=0.95),
        runs=(made(Run, allocator="glibc", wall_s=1.0), made(Run, wall_s=3.0)),
    )
    search = Search(Figures(), (), "c++", {}, race=race, against="mimalloc", leanest="jemalloc")
    search.unseen_s = {unseen[0]: 5.0}
    left = tailor._refinement_s  # noqa: SLF001
    judged = 16 * 4 * (5 + 2)
    assert left(options, search, monotonic()) == pytest.approx(1000 - 60 - judged, abs=1)
    assert left(options, search, monotonic() - 600) == pytest.approx(400 - 60 - judged, abs=1)
    search.unseen_s = {}
    assert left(options, search, monotonic()) == pytest.approx(500, abs=1), "half of the budget"


def test_an_allocator_that_cannot_be_counted_is_not_tried_again(
    tmp_path: Path, worker: Path, heapwright: Heapwright, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[float] = []

    def failing(_plan: object, _environment: object, limit_s: float) -> int:
        tried.append(limit_s)
        raise HeapwrightError("no count")

    assert heapwright("record", "-o", "run.trace", "--", worker).status == 0
    monkeypatch.setattr(tailor_candidates, "count_instructions", failing)
    monkeypatch.setattr(tailor_candidates, "can_count", lambda: True)
    with TailorFolder.open(tmp_path / "search", QUESTION, same_seed=True) as folder:
        for _ in range(2):
            libraries: dict[str, Path | None] = {"glibc": None}
            found = tailor_candidates.replay_all(
                Path("run.trace"), libraries, folder, lambda *_: None, 60
            )
            assert found["glibc"].not_counted == "no count"
        with pytest.raises(HeapwrightError):
            tailor_candidates.replay_all(
                Path("none.trace"), {"other": None}, folder, lambda *_: None, 60
            )
        assert not (folder.path / "plan").exists()
    assert len(tried) == 1
    assert tried[0] <= 60


def test_common_sizes_far_above_the_limit_are_not_served_under_the_sanitizers() -> None:
    figures = Figures(counts=Counter({1 << 40: 9, 24: 5, 16_000: 3}))
    sizes = tailor_proof.sizes_of(Sentence("fit", "fit", 8192), figures)
    assert max(sizes) == 2 * 8192
    assert {24, 16_000} <= set(sizes)


@pytest.mark.usefixtures("short")
def test_a_candidate_that_fails_its_proof_is_named_and_the_next_one_is_proved(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = forwarding(tmp_path / "proved.so", limit=1_000_000_000)
    seen: list[str] = []

    def first_fails(sentence: Sentence, *_: object) -> tuple[Proof, bool]:
        seen.append(sentence.core)
        failed = ("larson: killed by SIGSEGV",) if len(seen) == 1 else ()
        return Proof(candidate="own", failed=failed), True

    monkeypatch.setattr(tailor, "propose", lambda figures: propose(figures)[:2])
    monkeypatch.setattr(tailor, "finalists", list)
    monkeypatch.setattr(tailor_proof, "compose", composed(good))
    monkeypatch.setattr(tailor_proof, "examined", first_fails)
    words = ("tailor", "-o", "search", "--name", "own", "--json", "out.json", "--", worker, "2000")
    done = heapwright(*words)
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    bad, fine = document["proofs"]
    assert bad["failed"] == ["larson: killed by SIGSEGV"]
    assert (fine["failed"], fine["conformance"]) == ([], 7)
    assert bad["candidate"] != fine["candidate"]
    assert f"{bad['candidate']} is not proved: larson: killed by SIGSEGV" in done.out
    assert f"{fine['candidate']} passed 7 conformance cases" in done.out
    assert len(document["judged"]) == 1
    again = heapwright(*words)
    assert (again.out, len(seen)) == (done.out, 2), "a proof is not made again"


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("status", [ExitCode.NOT_WRITTEN, ExitCode.BAD_INPUT])
def test_a_full_disk_is_no_answer_and_a_refused_composition_is_one(
    heapwright: Heapwright, worker: Path, monkeypatch: pytest.MonkeyPatch, status: ExitCode
) -> None:
    def refusing(*_: object) -> None:
        if status == ExitCode.BAD_INPUT:
            raise NotComposableError("it was not made", "")
        raise HeapwrightError("it was not made", exit_code=status)

    monkeypatch.setattr(tailor_proof, "compose", refusing)
    done = heapwright("tailor", "--name", "own", "--", worker, "2000")
    if status == ExitCode.NOT_WRITTEN:
        refused(done, "it was not made", status=status)
        assert "No special allocator" not in done.out
    else:
        assert done.status == 0, done.err
        assert "No special allocator is worth it" in done.out
        assert "is not proved: it was not made" in done.out


@pytest.mark.usefixtures("short")
def test_a_race_that_ends_by_an_error_is_not_complete(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _raise_at(monkeypatch, 10, HeapwrightError("the machine failed"))
    done = heapwright("tailor", "-o", "search", "--", worker, "2000")
    refused(done, "the machine failed")
    assert (tmp_path / "search" / "replays.json").exists()
    assert not (tmp_path / "search" / "race.json").exists()


@pytest.mark.usefixtures("short")
def test_a_search_of_a_trace_continues_with_the_same_trace_and_compiler(
    heapwright: Heapwright, worker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tailor, "compile_all", interrupted)
    assert heapwright("record", "-o", "run.trace", "--", worker).status == 0
    words = ("tailor", "-o", "search", "run.trace")
    for _ in range(2):
        done = heapwright(*words)
        refused(done, "the same command with -o search continues", status=ExitCode.INTERRUPTED)
    compiler = next(filter(shutil.which, CANDIDATES))
    done = heapwright("tailor", "--compiler", f"{compiler} -g", *words[1:])
    refused(done, "another search: it differs in compiler")
    os.utime("run.trace", ns=(0, 0))
    refused(heapwright(*words), "another search: it differs in traces")


def test_a_proposal_of_the_front_that_is_no_finalist_is_not_called_worse(tmp_path: Path) -> None:
    options = Options((Input(("job",)),), (), "own", None, 60, None, 0.02, (), 1, None, None, True)
    names = ["c0", "c1", "c2", "c3", "beaten"]
    replays = {
        name: Replayed(seconds=1 + n / 100, peak_bytes=9 - n) for n, name in enumerate(names)
    }
    replays["beaten"] = Replayed(seconds=2, peak_bytes=9)
    candidates = tuple(
        Candidate(Sentence("fit", name, 8192), name, tmp_path, tmp_path) for name in names
    )
    with TailorFolder.open(tmp_path / "search", QUESTION, same_seed=True) as folder:
        search = Search(Figures(), candidates, "c++", replays)
        document = tailor_answer.document_of(options, folder, search)
    left = {each.name: each.left for each in document.candidates}
    assert left.pop("beaten") == "another replays no slower and with no more memory"
    assert sorted(left.values()) == ["", "", "", "it is no finalist of the front"]


@pytest.mark.slow
@pytest.mark.usefixtures("cxx")
def test_a_search_is_interrupted_continues_and_delivers(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def two(figures: Figures) -> tuple[Sentence, ...]:
        return propose(figures)[:2]

    def one(sentence: Sentence, figures: Figures, tried: set[str]) -> Variants:
        return Variants(neighbours(sentence, figures, tried)[:1])

    monkeypatch.setattr(tailor, "propose", two)
    monkeypatch.setattr(tailor_refine, "variants", one)
    monkeypatch.setattr(tailor, "newest_peers", lambda _: ("glibc", "granary"))
    monkeypatch.setattr(tailor_race, "race_looks", lambda *_: fixed(3, 0.95))
    monkeypatch.setattr(tailor_race, "MOST_BLOCKS", 5)
    words: tuple[str, ...] = (
        "tailor",
        "--seed",
        "1",
        "-o",
        "search",
        "--unseen",
        f"{worker} 9000",
        "--name",
        "own",
    )
    words += ("--json", "out.json", "--", str(worker), "20000")
    with monkeypatch.context() as patched:
        _interrupt_at(patched, 9)
        done = heapwright(*words)
    assert done.status == ExitCode.INTERRUPTED, done.err
    assert "the same command with -o search continues" in done.out
    assert not json.loads((tmp_path / "out.json").read_text("utf-8"))["finished"]
    known = json.loads((tmp_path / "search" / "replays.json").read_text("utf-8"))

    def only_later_ones(compiler: Any, own: Path, folder: Path, entry: Any) -> Any:
        names = [path.name for path in (tmp_path / "search" / "candidates").glob("*/*.hpp")]
        assert f"{entry.name}.hpp" not in names, "this stage is complete"
        return build_library(compiler, own, folder, entry)

    with monkeypatch.context() as patched:
        patched.setattr(tailor_candidates, "build_library", only_later_ones)
        done = heapwright(*words)
    assert done.status == 0, done.err
    assert known.items() <= json.loads((tmp_path / "search" / "replays.json").read_text()).items()
    assert all(each["instructions"] for each in known.values())
    page = (tmp_path / "search" / "page.html").read_text("utf-8")
    assert {"race", "front", "steps"} <= json.loads(
        page.split('id="charts">')[1].split("<")[0]
    ).keys()
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert document["finished"]
    assert document["answer"]["action"] in {"tailored", "existing"}
    assert [each["unseen"] for each in document["judged"]] == [True]
    assert {"glibc", "granary"} < document["raced"].keys()
    header = Path(document["header"]).read_text("utf-8")
    assert all(each["why_not"] == "" for each in document["steps"])
    (neighbour,) = document["refinement"]["rounds"][0]["tried"]
    assert neighbour["instructions"] > 0
    assert "replays have" in " ".join(header.replace("//", "").split())
    assert "using Own = ANSIWrapper<" in header
    assert f"Fitted to: {worker} 20000" in " ".join(header.replace("//", "").split())
    assert Path(document["library"]).is_file()
    (proof,) = document["proofs"]
    assert (proof["failed"], proof["missing"]) == ([], [])
    assert proof["conformance"] > 50
    assert proof["sanitizers"] == ["address,undefined", "thread"]
    assert {"larson", "mixed"} < set(proof["stress"])
    again = heapwright(*words[:-5], "-q", *words[-3:])
    assert again.out.strip() == document["answer"]["reason"]
    other = heapwright(*words[:-1], "30000")
    refused(other, "search has another search: it differs in inputs")


def _interrupt_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Make the run of this number raise the interruption of Ctrl-C."""
    _raise_at(monkeypatch, number, KeyboardInterrupt())


def _raise_at(monkeypatch: pytest.MonkeyPatch, number: int, error: BaseException) -> None:
    left = [number]
    execute = Measurement.execute

    def raising(self: Measurement, assignment: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            raise error
        return execute(self, assignment)

    monkeypatch.setattr(Measurement, "execute", raising)

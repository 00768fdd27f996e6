# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright tailor`: what it refuses, and one short search of two proposals from end to end."""

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from heapwright.analysis.looks import fixed
from heapwright.artefacts.allocator.catalogue import ComposedAllocator
from heapwright.artefacts.tailoring.document import Proof
from heapwright.artefacts.tailoring.folder import Question, Replayed, TailorFolder
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands import (
    tailor,
    tailor_answer,
    tailor_candidates,
    tailor_proof,
    tailor_race,
    tailor_steps,
)
from heapwright.commands.tailor_answer import Options, Search
from heapwright.commands.tailor_candidates import Candidate
from heapwright.compose.compiler import CANDIDATES
from heapwright.compose.conformance import Verdict
from heapwright.compose.library import build_library
from heapwright.compose.workshop import Made, Order, Shop
from heapwright.experiment.measurement import Measurement
from heapwright.tailor.figures import Figures
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.proposals import propose

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
    refused(heapwright("tailor", "--advise", "--json", "a", "--", worker), "writes no files")


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


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cxx: None) -> None:
    """A search with one proposal, a short race, and a malloc of the tests in place of the compiled
    libraries."""
    del cxx
    good = forwarding(tmp_path / "good.so", limit=1_000_000_000)

    def placed(candidates: Iterable[Candidate], *_: object) -> None:
        for each in candidates:
            each.library.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(good, each.library)

    def passing(sentence: Sentence, *_: object) -> Proof:
        return Proof(candidate=sentence.name)

    monkeypatch.setattr(tailor, "compile_all", placed)
    monkeypatch.setattr(tailor_steps, "compile_all", placed)
    monkeypatch.setattr(tailor, "can_count", lambda: False)
    monkeypatch.setattr(tailor_candidates, "can_count", lambda: False)
    monkeypatch.setattr(tailor_proof, "examined", passing)
    monkeypatch.setattr(tailor, "propose", lambda figures: propose(figures)[:1])
    monkeypatch.setattr(tailor, "newest_peers", lambda _: ("glibc", "granary"))
    monkeypatch.setattr(tailor_race, "race_looks", lambda *_: fixed(3, 0.95))
    monkeypatch.setattr(tailor_race, "MOST_BLOCKS", 5)


def _composed(library: Path) -> Callable[[Order, Shop], Made]:
    """A composition that delivers this library."""

    def compose(order: Order, shop: Shop) -> Made:
        place = shop.allocators / order.name / f"libheapwright-{order.name}.so"
        place.parent.mkdir(parents=True)
        shutil.copy(library, place)
        entry = ComposedAllocator(order.name, f"{order.name}.hpp", order.type, order.name)
        return Made(entry, place, (), Verdict(7, 0, ()))

    return compose


@pytest.mark.usefixtures("short")
def test_a_tailored_allocator_that_fails_on_the_unseen_input_is_no_answer(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = forwarding(tmp_path / "bad.so", "abort()", limit=1000)
    monkeypatch.setattr(tailor_proof, "compose", _composed(bad))
    words = ("tailor", "--unseen", f"{worker} 3000", "--name", "own", "--json", "out.json")
    done = heapwright(*words, "--", worker, "2000")
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert document["finished"]
    assert document["answer"]["action"] == "existing"
    assert document["answer"]["allocator"] in {"glibc", "granary"}
    assert f"own gave no complete runs of {worker} 3000" in document["answer"]["notes"]


@pytest.mark.usefixtures("short")
def test_a_candidate_that_fails_its_proof_is_named_and_the_next_one_is_proved(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = forwarding(tmp_path / "proved.so", limit=1_000_000_000)
    seen: list[str] = []

    def first_fails(sentence: Sentence, *_: object) -> Proof:
        seen.append(sentence.core)
        failed = ("larson: killed by SIGSEGV",) if len(seen) == 1 else ()
        return Proof(candidate="own", failed=failed)

    monkeypatch.setattr(tailor, "propose", lambda figures: propose(figures)[:2])
    monkeypatch.setattr(tailor, "finalists", list)
    monkeypatch.setattr(tailor_proof, "compose", _composed(good))
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
    options = Options((("job",),), (), "own", None, 60, None, 0.02, (), 1, None, None, True)
    names = ["c0", "c1", "c2", "c3", "beaten"]
    replays = {
        name: Replayed(seconds=1 + n / 100, peak_bytes=9 - n) for n, name in enumerate(names)
    }
    replays["beaten"] = Replayed(seconds=2, peak_bytes=9)
    candidates = tuple(
        Candidate(Sentence("fit", name, 8192), name, tmp_path, tmp_path) for name in names
    )
    question = Question(
        inputs=options.inputs,
        unseen=(),
        cwd="",
        name="own",
        peers=(),
        margin=0.02,
        headers="",
        compiler="",
        traces={},
        seed=1,
    )
    with TailorFolder.open(tmp_path / "search", question, same_seed=True) as folder:
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

    monkeypatch.setattr(tailor, "propose", two)
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

    def only_without_a_step(compiler: Any, own: Path, folder: Path, entry: Any) -> Any:
        assert "-without-" in entry.name, "this stage is complete"
        return build_library(compiler, own, folder, entry)

    with monkeypatch.context() as patched:
        patched.setattr(tailor_candidates, "build_library", only_without_a_step)
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

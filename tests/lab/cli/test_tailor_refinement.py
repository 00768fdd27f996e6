# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright tailor` refines the winner of its race: short searches with a better neighbour."""

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from heapwright.analysis.looks import fixed
from heapwright.artefacts.tailoring.document import Proof, Tailoring
from heapwright.base.errors import ExitCode
from heapwright.commands import tailor, tailor_proof, tailor_race, tailor_refine
from heapwright.commands.tailor_candidates import Candidate
from heapwright.experiment.measurement import Measurement
from heapwright.tailor.figures import Figures
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.refinement import Variants, neighbours

from .tailoring import composed, shorten
from .tools import Heapwright, forwarding

pytestmark = pytest.mark.usefixtures("native", "better")

WASTE = """
    static int once;
    if (!once++) {
        const size_t size = 48 << 20;
        char *waste = __libc_malloc(size);
        for (size_t at = 0; at < size; at += 4096) {
            waste[at] = 1;
        }
    }
"""
"""More time and memory than the program of the tests needs."""
BLOCKS = 8


@pytest.fixture
def better(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cxx: None) -> None:
    """A search in which every neighbour has a leaner malloc."""
    del cxx
    fat = forwarding(tmp_path / "fat.so", WASTE)
    lean = forwarding(tmp_path / "lean.so", limit=1_000_000_000)
    shorten(monkeypatch, fat)

    def placed(candidates: Iterable[Candidate], *_: object) -> None:
        for each in candidates:
            if not each.library.exists():
                each.library.parent.mkdir(parents=True)
                shutil.copy(lean, each.library)

    def first(sentence: Sentence, figures: Figures, tried: Iterable[str]) -> Variants:
        return Variants(neighbours(sentence, figures, set(tried))[:1])

    monkeypatch.setattr(tailor_refine, "compile_all", placed)
    monkeypatch.setattr(tailor_refine, "variants", first)
    monkeypatch.setattr(tailor_proof, "compose", composed(lean))
    monkeypatch.setattr(tailor, "newest_peers", lambda _: ("glibc",))
    monkeypatch.setattr(tailor_race, "race_looks", lambda *_: fixed(BLOCKS, 0.95))


@pytest.fixture
def search(heapwright: Heapwright, worker: Path, tmp_path: Path) -> Callable[..., Tailoring]:
    """Runs the search in the folder `search`, and returns its document."""

    def run(*options: str, status: ExitCode = ExitCode.OK) -> Tailoring:
        words = ("tailor", "-o", "search", "--name", "own", "--seed", "1", "--json", "out.json")
        done = heapwright(*words, *options, "--", worker, "3000")
        assert done.status == status, done.err
        return Tailoring.model_validate_json((tmp_path / "out.json").read_bytes())

    return run


def kept(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.glob("refined-*.json"))


def test_a_better_neighbour_is_proved_judged_and_delivered(
    search: Callable[..., Tailoring], tmp_path: Path
) -> None:
    found = search()
    assert found.refinement is not None
    first = found.refinement.rounds[0]
    (start,) = found.candidates
    assert first.beside == start.name
    (neighbour,) = first.tried
    assert first.winner == neighbour.name != start.name
    time, memory = first.raced[neighbour.name]
    assert time is not None
    assert memory is not None
    assert memory.ratio < 0.5
    assert "glibc" in first.raced
    assert found.winner == neighbour.name
    assert found.proofs[-1].candidate == neighbour.name
    assert f"--proposal {neighbour.name} " in found.rebuild_from_trace
    header = " ".join(Path(found.header).read_text("utf-8").replace("//", "").split())
    assert "of the winner w" in header
    assert list((tmp_path / "search").glob(f"judged-0-{neighbour.digest}.json"))
    assert 'id="refinement"' in (tmp_path / "search" / "page.html").read_text("utf-8")


def test_a_complete_search_is_not_refined_again(
    search: Callable[..., Tailoring],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = search()
    rounds = kept(tmp_path / "search")
    assert rounds
    monkeypatch.setattr(tailor_refine, "variants", pytest.fail)
    monkeypatch.setattr(Measurement, "execute", pytest.fail)
    after = search()
    assert after.refinement == before.refinement
    assert (after.winner, after.judged) == (before.winner, before.judged)
    assert kept(tmp_path / "search") == rounds


def test_an_interrupted_refinement_names_the_best_so_far_and_continues(
    search: Callable[..., Tailoring],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    execute = Measurement.execute

    def interrupted(self: Measurement, assignment: Any) -> Any:
        if (tmp_path / "search" / "race.json").exists():
            raise KeyboardInterrupt
        return execute(self, assignment)

    with monkeypatch.context() as patched:
        patched.setattr(Measurement, "execute", interrupted)
        found = search(status=ExitCode.INTERRUPTED)
    assert not found.finished
    assert found.answer.reason.endswith(f"The best proposal so far is {found.candidates[0].name}")
    assert found.refinement is not None
    assert found.refinement.ended == "it was interrupted"
    assert kept(tmp_path / "search") == []
    after = search()
    assert after.finished
    assert after.refinement is not None
    assert after.winner == after.refinement.rounds[-1].winner != found.candidates[0].name


def test_a_neighbour_that_fails_its_proof_gives_way_to_the_winner_of_the_race(
    search: Callable[..., Tailoring], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailor_refine, "ROUNDS", 1)
    seen: list[str] = []

    def first_fails(sentence: Sentence, *_: object) -> tuple[Proof, bool]:
        seen.append(sentence.name)
        failed = ("larson: killed by SIGSEGV",) if len(seen) == 1 else ()
        return Proof(candidate="own", failed=failed), True

    monkeypatch.setattr(tailor_proof, "examined", first_fails)
    found = search()
    assert found.refinement is not None
    (only,) = found.refinement.rounds
    assert [each.candidate for each in found.proofs] == [only.winner, only.beside]
    assert found.winner == only.beside


def test_a_named_proposal_is_tried_alone_and_may_be_a_neighbour(
    search: Callable[..., Tailoring], tmp_path: Path
) -> None:
    refined = search().winner
    shutil.rmtree(tmp_path / "search")
    found = search("--proposal", refined)
    assert [each.name for each in found.candidates] == [refined]
    assert found.refinement is None
    assert json.loads((tmp_path / "search" / "question.json").read_text())["proposal"] == refined


def test_a_budget_that_the_judgement_needs_is_not_used(
    search: Callable[..., Tailoring], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailor, "PROOF_S", 100_000.0)
    found = search()
    (note,) = [each for each in found.answer.notes if "was not refined" in each]
    assert note.endswith("and there are 0 s for it")
    assert found.judged
    assert found.winner == found.candidates[0].name

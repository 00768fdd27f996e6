# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The rounds around a winner: which neighbours race, when one wins, and how the stage ends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from heapwright.artefacts.comparison.document import Comparison, Design, Effect, TreatmentInfo
from heapwright.artefacts.run.measured import Run
from heapwright.artefacts.tailoring.folder import Replayed, TailorFolder
from heapwright.artefacts.tailoring.inputs import Input
from heapwright.commands import tailor_refine, tailor_steps
from heapwright.commands.tailor_answer import Search
from heapwright.commands.tailor_candidates import Candidate, candidates_of
from heapwright.commands.tailor_race import Field
from heapwright.commands.tailor_refine import refine
from heapwright.commands.tailor_steps import Place, value_steps
from heapwright.compose.workshop import NotComposableError
from heapwright.tailor.figures import DEPTHS, Figures
from heapwright.tailor.grammar import KIB, Sentence
from heapwright.tailor.refinement import Variants
from support.documents import made
from support.tailoring import QUESTION

START = Sentence("owner-caches", "caches-16", 16 * KIB, depth=16)
DEEPER, EVEN_DEEPER = "caches-16-depth-32", "caches-16-depth-32-depth-64"
SITES = "caches-16-sites"
FIGURES = Figures(
    allocations=1000,
    threads=1,
    hits={each: each for each in DEPTHS},
    walked=1000,
    peak_bytes=1 << 20,
)
Pair = tuple[float, float]


def comparison(baseline: str, ratios: Mapping[str, Pair]) -> Comparison:
    """A race with these ratios of time and memory, each within 1 %, and runs of a second."""

    def effect(name: str, response: str, ratio: float) -> Effect:
        return made(
            Effect,
            allocator=name,
            response=response,
            ratio=ratio,
            low=0.99 * ratio,
            high=1.01 * ratio,
            runs=1,
        )

    return made(
        Comparison,
        design=made(Design, baseline=baseline, race="cpu", confidence=0.95),
        treatments=tuple(made(TreatmentInfo, allocator=name) for name in ratios),
        effects=tuple(
            effect(name, response, ratio)
            for name, pair in ratios.items()
            for response, ratio in zip(("cpu", "memory"), pair, strict=True)
        ),
        runs=(made(Run, allocator=baseline, wall_s=1.0),),
    )


@dataclass
class Bench:
    """The stage, with known replays and races in place of compilers and runs."""

    folder: TailorFolder
    replays: dict[str, Pair]
    """Time and memory by name; the default is that of the start."""
    races: dict[str, Pair]
    """Time and memory relative to the baseline by name; the default is no change."""
    compiled: list[str] = field(default_factory=list)
    raced: list[tuple[str, ...]] = field(default_factory=list)
    interrupted_in: int = 0
    names: dict[str, str] = field(default_factory=dict)

    def compile_all(self, candidates: Sequence[Candidate], *_: object) -> None:
        for each in candidates:
            self.names[each.digest] = each.name
            if not each.library.exists():
                each.library.parent.mkdir(parents=True)
                each.library.touch()
                self.compiled.append(each.name)

    def replay_all(
        self, _: Path, libraries: Mapping[str, Path], *__: object
    ) -> dict[str, Replayed]:
        pairs = {key: self.replays.get(self.names[key], (1.0, 1000)) for key in libraries}
        return {
            key: Replayed(seconds=time, peak_bytes=int(peak)) for key, (time, peak) in pairs.items()
        }

    def race(
        self,
        _: Field,
        name: str,
        __: Input,
        own: Mapping[str, Path],
        peers: Sequence[str],
        baseline: str,
        ___: float,
    ) -> tuple[Comparison, object]:
        self.raced.append((*own, *peers))
        if len(self.raced) == self.interrupted_in:
            return comparison(baseline, {}), SimpleNamespace(failure=None, interrupted=True)
        ratios = {each: self.races.get(each, (1.0, 1.0)) for each in (*own, *peers)}
        found = comparison(baseline, ratios | {baseline: (1.0, 1.0)})
        self.folder.keep(f"{name}.json", found.to_json())
        return found, None

    def search(self) -> Search:
        (start,) = candidates_of([START], self.folder)
        self.compile_all([start])
        self.compiled.clear()
        return Search(
            FIGURES,
            (start,),
            "c++",
            {START.name: Replayed(seconds=1.0, peak_bytes=1000)},
            race=comparison("glibc", {"glibc": (1.0, 1.0), START.name: (0.9, 1.0)}),
            winner=start,
            against="mimalloc",
        )

    def refined(self, search: Search, left_s: float = 10_000, what: str = "job") -> Search:
        place = Place(self.folder, Path("input-0.trace"), None, quiet=True)
        refine(place, Field(self.folder, 0.02, (), quiet=True), Input((what,)), search, left_s)
        return search


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with TailorFolder.open(tmp_path / "search", QUESTION, same_seed=True) as folder:
        made_bench = Bench(folder, {}, {})
        monkeypatch.setattr(tailor_refine, "compile_all", made_bench.compile_all)
        monkeypatch.setattr(tailor_refine, "replay_all", made_bench.replay_all)
        monkeypatch.setattr(tailor_refine, "raced", made_bench.race)
        yield made_bench


def winners(search: Search) -> list[str]:
    assert search.refinement is not None
    return [each.winner for each in search.refinement.rounds]


def test_a_neighbour_that_wins_is_the_winner_of_the_next_round(bench: Bench) -> None:
    bench.replays = {DEEPER: (0.9, 1000), EVEN_DEEPER: (0.89, 990)}
    bench.races = {DEEPER: (0.95, 1.0), EVEN_DEEPER: (0.999, 1.0)}
    search = bench.refined(bench.search())
    assert bench.raced == [
        (START.name, DEEPER, "mimalloc"),
        (DEEPER, EVEN_DEEPER, "mimalloc"),
    ]
    assert search.winner is not None
    assert search.winner.name == DEEPER
    assert [each.name for each in search.refined] == [DEEPER]
    assert winners(search) == [DEEPER, DEEPER]
    assert search.refinement is not None
    first, second = search.refinement.rounds
    assert search.refinement.ended == "no neighbour won the race"
    assert (first.beside, second.beside) == (START.name, DEEPER)
    assert first.raced[DEEPER][0] is not None
    assert {each.name: each.left for each in first.tried}[DEEPER] == ""
    assert all(each.left for each in first.tried if each.name != DEEPER)
    digests = [each.digest for found in search.refinement.rounds for each in found.tried]
    assert len(set(digests)) == len(digests), "nothing is tried twice"
    assert search.notes == ()


def test_a_complete_refinement_is_taken_from_the_folder(bench: Bench) -> None:
    bench.replays = {DEEPER: (0.9, 1000)}
    bench.races = {DEEPER: (0.95, 1.0)}
    before = bench.refined(bench.search())
    raced = len(bench.raced)
    again = bench.refined(bench.search(), left_s=0)
    assert again.winner == before.winner
    assert (again.refined, again.refinement) == (before.refined, before.refinement)
    assert again.replays[DEEPER] == before.replays[DEEPER]
    assert (len(bench.raced), bench.compiled) == (raced, [])


def test_a_winner_that_no_step_leads_to_is_searched_again(bench: Bench) -> None:
    bench.replays = {DEEPER: (0.9, 1000)}
    bench.races = {DEEPER: (0.95, 1.0)}
    bench.refined(bench.search())
    raced = len(bench.raced)
    search = bench.search()
    search.figures = replace(FIGURES, hits={})
    bench.refined(search)
    assert search.winner is not None
    assert (search.winner.name, len(bench.raced)) == (START.name, raced)


def test_a_gain_within_the_scatter_wins_nothing(bench: Bench) -> None:
    bench.replays = {DEEPER: (0.9, 1000)}
    bench.races = {DEEPER: (0.993, 1.0)}
    search = bench.refined(bench.search())
    assert winners(search) == [START.name]
    assert search.winner is not None
    assert search.winner.name == START.name


def test_without_a_gain_in_the_replays_there_is_no_race(bench: Bench) -> None:
    search = bench.refined(bench.search())
    assert bench.raced == []
    assert search.refinement is not None
    assert search.refinement.ended == "no neighbour gains in the replays"
    (only,) = search.refinement.rounds
    assert only.tried
    assert only.raced == {}


def test_without_time_there_is_a_note_and_nothing_is_compiled(bench: Bench) -> None:
    for left_s in (20.0, -5.0):
        search = bench.refined(bench.search(), left_s)
        (note,) = search.notes
        assert note.startswith("the winner was not refined: a round takes about ")
        assert (bench.compiled, bench.raced) == ([], [])
        assert search.winner is not None
        assert search.winner.name == START.name


def test_there_are_at_most_three_rounds(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def deeper(sentence: Sentence, _: Figures, tried: set[str]) -> Variants:
        del tried
        name = f"{sentence.name}-more"
        bench.replays[name] = (0.5 ** len(name), 1000)
        bench.races[name] = (0.9, 1.0)
        return Variants((replace(sentence, name=name, depth=sentence.depth * 2),))

    monkeypatch.setattr(tailor_refine, "variants", deeper)
    search = bench.refined(bench.search())
    assert winners(search) == [f"caches-16{'-more' * number}" for number in (1, 2, 3)]
    assert search.refinement is not None
    assert search.refinement.ended == "3 rounds were made"


def sites(sentence: Sentence, _: Figures, tried: set[str]) -> Variants:
    """One variant that races at once, and has a neighbour."""
    del tried
    if sentence.name == START.name:
        return Variants((), (replace(sentence, name=SITES, depth=512),))
    return Variants((replace(sentence, name=f"{SITES}-depth-1024", depth=1024),))


def test_a_variant_races_without_a_replay_and_its_neighbours_are_beside_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailor_refine, "variants", sites)
    further = f"{SITES}-depth-1024"
    bench.replays = {further: (0.8, 1000)}
    bench.races = {SITES: (0.9, 1.0), further: (0.9, 1.0)}
    search = bench.refined(bench.search())
    assert bench.raced[0] == (START.name, SITES, "mimalloc")
    assert bench.raced[1] == (SITES, further, "mimalloc"), "the replays of the two were compared"
    assert winners(search)[:2] == [SITES, further]
    assert {search.replays[each].seconds for each in (SITES, further)} == {None}
    place = Place(bench.folder, Path("input-0.trace"), None, quiet=True)
    monkeypatch.setattr(tailor_steps, "compile_all", pytest.fail)
    value_steps(place, search, 10_000)
    assert search.notes == (
        f"the value of each step was not measured: a replay does not show {further}",
    )


def test_a_trace_has_no_variants_that_a_replay_does_not_show(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tailor_refine, "variants", sites)
    monkeypatch.setattr(Input, "trace", tmp_path / "run.trace")
    search = bench.refined(bench.search(), what="run.trace")
    assert bench.raced == []
    assert search.notes == ("the winner was not refined: every neighbour was tried",)


def test_an_interrupted_race_leaves_the_winner_so_far_and_is_run_again(bench: Bench) -> None:
    bench.replays = {DEEPER: (0.9, 1000), EVEN_DEEPER: (0.8, 1000)}
    bench.races = {DEEPER: (0.95, 1.0), EVEN_DEEPER: (0.95, 1.0)}
    bench.interrupted_in = 2
    search = bench.search()
    with pytest.raises(KeyboardInterrupt):
        bench.refined(search)
    assert search.winner is not None
    assert search.winner.name == DEEPER
    assert search.refinement is not None
    assert (winners(search), search.refinement.ended) == ([DEEPER], "it was interrupted")
    assert bench.folder.refinements() == {}
    before, raced = list(bench.compiled), len(bench.raced)
    again = bench.refined(bench.search())
    assert winners(again)[:2] == [DEEPER, EVEN_DEEPER]
    assert bench.raced[raced + 1] == (DEEPER, EVEN_DEEPER, "mimalloc")
    assert before
    assert not set(before) & set(bench.compiled), "nothing is compiled again"


def test_a_round_whose_race_is_kept_needs_no_time(bench: Bench) -> None:
    bench.replays = {DEEPER: (0.9, 1000), EVEN_DEEPER: (0.8, 1000)}
    bench.races = {DEEPER: (0.95, 1.0), EVEN_DEEPER: (0.95, 1.0)}
    bench.interrupted_in = 2
    with pytest.raises(KeyboardInterrupt):
        bench.refined(bench.search())
    search = bench.refined(bench.search(), left_s=0)
    assert winners(search) == [DEEPER]
    assert search.refinement is not None
    assert search.refinement.ended.startswith("a round takes about ")
    assert search.notes == ()


def failing(*_: object) -> None:
    raise NotComposableError("the proposal does not compile", "")


def test_a_neighbour_that_does_not_compile_ends_the_stage(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = bench.search()
    monkeypatch.setattr(tailor_refine, "compile_all", failing)
    bench.refined(search)
    assert search.notes == ("the winner was not refined: the proposal does not compile",)
    assert search.winner is not None
    assert search.winner.name == START.name


def test_an_error_of_the_race_is_raised(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> tuple[Comparison, object]:
        failure = OSError("the machine failed")
        return comparison("", {}), SimpleNamespace(failure=failure, interrupted=False)

    bench.replays = {DEEPER: (0.9, 1000)}
    monkeypatch.setattr(tailor_refine, "raced", broken)
    with pytest.raises(OSError, match="the machine failed"):
        bench.refined(bench.search())

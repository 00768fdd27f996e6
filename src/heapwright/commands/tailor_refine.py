# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The refinement of `heapwright tailor`: a search around the winner of the race.

In each round, neighbours of the winner are compiled and replayed. The best of them race with it and
with the fastest existing allocator. A neighbour that wins is the winner of the next round.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.tailoring.document import Refinement, Round
from heapwright.artefacts.tailoring.folder import Replayed, TailorFolder
from heapwright.artefacts.tailoring.inputs import Input
from heapwright.commands.slow_steps import reporting_steps
from heapwright.commands.tailor_answer import (
    NOT_ON_FRONT,
    Search,
    pairs_of,
    ratios_of,
    row_of,
)
from heapwright.commands.tailor_candidates import (
    Candidate,
    candidates_of,
    compilation_s,
    compile_all,
    replay_all,
    replaying_s,
)
from heapwright.commands.tailor_race import LEAST_BLOCKS, Field, blocks_s, raced, run_s_of
from heapwright.commands.tailor_steps import Place
from heapwright.compose.workshop import NotComposableError
from heapwright.tailor.header import digest_of
from heapwright.tailor.judge import (
    LEAST_GAIN,
    RACED_NEIGHBOURS,
    front,
    improves,
    improving,
    leanest_near,
)
from heapwright.tailor.refinement import derived, variants

ROUNDS = 3
RACE_SHARE = 0.5
"""Of the time of the stage that is left, for the race of one round."""
COUNT_SHARE = 0.5
"""Of the time beside the shortest race, for counts of instructions."""
INTERRUPTED = "it was interrupted"


def refine(place: Place, how: Field, what: Input, search: Search, left_s: float) -> None:
    """Search around the winner in about `left_s`, or take the complete refinement of the folder.

    Post: `search.refined` has the winners of the rounds, and `search.winner` is the last of them.
    Raises KeyboardInterrupt after an interrupted race; the rounds before it are in `search`.
    """
    start = search.winner
    assert start is not None
    if not _restored(place.folder, search, start):
        _Climb(place, how, what, search, monotonic() + left_s).climb()
        assert search.refinement is not None
        kept = {**place.folder.refinements(), start.digest: search.refinement}
        place.folder.keep_refinements(kept)
    assert search.refinement is not None
    if not search.refinement.rounds:
        search.notes += (f"the winner was not refined: {search.refinement.ended}",)


def _restored(folder: TailorFolder, search: Search, start: Candidate) -> bool:
    """Whether the folder has the complete refinement of this winner. Its winners are derived."""
    kept = folder.refinements().get(start.digest)
    if kept is None:
        return False
    winners, replays = [start], {}
    for each in kept.rounds:
        if each.winner == each.beside:
            continue
        row = next((row for row in each.tried if row.name == each.winner), None)
        sentence = derived([winners[-1].sentence], each.winner, search.figures)
        if row is None or sentence is None or digest_of(sentence) != row.digest:
            return False
        winners += candidates_of([sentence], folder)
        replays[row.name] = Replayed(
            seconds=row.seconds,
            peak_bytes=row.peak_bytes,
            faults=row.faults,
            instructions=row.instructions,
        )
    search.replays |= replays
    search.refined = tuple(winners[1:])
    search.winner, search.refinement = winners[-1], kept
    return True


@dataclass(frozen=True, slots=True)
class _Trial:
    """What a round tries beside the winner."""

    replayed: tuple[Candidate, ...]
    direct: tuple[Candidate, ...]
    """They race without a replay."""

    @property
    def all(self) -> tuple[Candidate, ...]:
        return (*self.replayed, *self.direct)


@dataclass(slots=True)
class _Climb:
    """The rounds, each from the winner of the one before."""

    place: Place
    how: Field
    what: Input
    search: Search
    until: float
    """On the clock of `monotonic`."""
    tried: set[str] = field(default_factory=set)
    """Digests."""
    rounds: list[Round] = field(default_factory=list)

    def climb(self) -> None:
        """Make rounds as long as a neighbour wins and there is time."""
        self.tried = {each.digest for each in self.search.candidates}
        ended = ""
        for number in range(1, ROUNDS + 1):
            self._state(INTERRUPTED)
            try:
                ended = self._round(number)
            except NotComposableError as error:
                ended = error.message
            if ended:
                break
        self._state(ended or f"{ROUNDS} rounds were made")

    def _state(self, ended: str) -> None:
        self.search.refinement = Refinement(rounds=tuple(self.rounds), ended=ended)

    @property
    def _winner(self) -> Candidate:
        assert self.search.winner is not None
        return self.search.winner

    def _round(self, number: int) -> str:
        """Why this round is the last; empty: a neighbour won."""
        before, folder = self._winner, self.place.folder
        found = variants(before.sentence, self.search.figures, self.tried)
        direct = found.raced if self.what.trace is None else ()  # the race of a trace is a replay
        trial = _Trial(candidates_of(found.replayed, folder), candidates_of(direct, folder))
        if not trial.all:
            return "every neighbour was tried"
        name = f"refined-{number}-{before.digest}"
        least_s = self._least_race_s(trial)
        needed = self._replaying_s(trial) + least_s
        left = max(0.0, self.until - monotonic())
        if folder.comparison(name) is None and needed > left:
            return f"a round takes about {needed:.0f} s, and there are {left:.0f} s for it"
        self.tried |= {each.digest for each in trial.all}
        replays = self._replays(trial, least_s)
        best = improving(replays, before.name)
        racing = (*(each for each in trial.replayed if each.name in best), *trial.direct)
        race = self._race(name, racing, least_s) if racing else None
        after = before if race is None else _chosen(race, before, racing, self.how.margin)
        self._keep(trial, replays, best, race, after)
        if race is None:
            return "no neighbour gains in the replays"
        if after is before:
            return "no neighbour won the race"
        self.search.winner = after
        self.search.refined += (after,)
        return ""

    def _least_race_s(self, trial: _Trial) -> float:
        """Of the shortest race: the winner, an existing allocator, and the variants."""
        assert self.search.race is not None
        treatments = 2 + min(RACED_NEIGHBOURS, len(trial.replayed)) + len(trial.direct)
        return blocks_s(LEAST_BLOCKS, treatments, run_s_of(self.search.race))

    def _replaying_s(self, trial: _Trial) -> float:
        """About what compilations and replays take that the folder does not have."""
        known = self.place.folder.replays()
        missing = sum(each.digest not in known for each in trial.replayed)
        whole = self.search.replays[self._winner.name]
        return compilation_s(trial.all) + replaying_s([whole] * missing)

    def _replays(self, trial: _Trial, least_s: float) -> dict[str, Replayed]:
        """Compile all; return the replays of the winner and its neighbours by name."""
        place = self.place
        every = (self._winner, *trial.replayed)
        with reporting_steps(quiet=place.quiet) as tell:
            compile_all((*every, *trial.direct), place.compiler, tell)
            count_s = COUNT_SHARE * max(0.0, self.until - monotonic() - least_s)
            libraries: dict[str, Path | None] = {each.digest: each.library for each in every}
            found = replay_all(place.trace, libraries, place.folder, tell, count_s)
        return {each.name: found[each.digest] for each in every}

    def _race(self, name: str, racing: Sequence[Candidate], least_s: float) -> Comparison:
        """The winner, these variants, and the fastest existing allocator on the program."""
        own = {each.name: each.library for each in (self._winner, *racing)}
        budget_s = max(least_s, RACE_SHARE * (self.until - monotonic()))
        peers = (self.search.against,)
        race, result = raced(self.how, name, self.what, own, peers, self._winner.name, budget_s)
        if result is not None and result.failure is not None:
            raise result.failure
        if result is not None and result.interrupted:
            raise KeyboardInterrupt
        return race

    def _keep(
        self,
        trial: _Trial,
        replays: Mapping[str, Replayed],
        best: Sequence[str],
        race: Comparison | None,
        after: Candidate,
    ) -> None:
        """Add the round to the document, and its replays to those of the search.

        A winner that has raced without a replay has none. Its neighbours then have none either.
        """
        before, known = self._winner, self.search.replays
        shown = known[before.name].seconds is not None
        known |= {each.name: replays[each.name] if shown else Replayed() for each in trial.replayed}
        known |= {each.name: Replayed() for each in trial.direct}
        ranked = front(replays)
        left = {
            each.name: replays[each.name].why_not or _left(each.name, best, ranked)
            for each in trial.replayed
        }
        rows = [
            row_of(each, known[each.name], front=each.name in ranked, left=left.get(each.name, ""))
            for each in trial.all
        ]
        self.rounds.append(
            Round(beside=before.name, tried=tuple(rows), raced=ratios_of(race), winner=after.name)
        )


def _chosen(
    race: Comparison, before: Candidate, racing: Sequence[Candidate], margin: float
) -> Candidate:
    """The leanest within the margin of the fastest, if it surely gains beside the winner so far."""
    by_name = {each.name: each for each in (before, *racing)}
    name = leanest_near(pairs_of(race, by_name), margin)
    if name is None or not improves(*ratios_of(race)[name]):
        return before
    return by_name[name]


def _left(name: str, best: Sequence[str], ranked: Sequence[str]) -> str:
    """Why a replayed neighbour did not race; empty: it did."""
    if name in best:
        return ""
    if name not in ranked:
        return NOT_ON_FRONT
    return f"others gain more, or it gains less than {100 * LEAST_GAIN:g} %"

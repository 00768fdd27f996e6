# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The whole analysis on made-up runs: what goes in, what comes out, what must not matter."""

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heapwright.analysis.analyse import Analysis, Settings, analyse, settings_of
from heapwright.analysis.apply import Invocation
from heapwright.artefacts.comparison.document import Design, Effect, Response, TreatmentInfo
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Kind

MakeRun = Callable[..., Run]
LIBRARY = "/usr/lib/libx.so"
PLAIN = Settings(level=0.95, seed=1)


def info(name: str) -> TreatmentInfo:
    return TreatmentInfo(allocator=name, label=name, kind=Kind.PEER, preload=LIBRARY)


@pytest.fixture(scope="session")
def experiment(make_run: MakeRun) -> Callable[..., list[Run]]:
    """Runs of allocators with given (time, memory) factors, blocks that drift, 1 % error."""

    def make(
        factors: Mapping[str, tuple[float, float]], blocks: int = 6, error: float = 0.01
    ) -> list[Run]:
        draws = np.random.default_rng(42)
        return [
            make_run(
                name,
                block,
                wall_s=2 * time * (1 + block / 10) * float(np.exp(draws.normal(0, error))),
                peak_rss_bytes=round(400e6 * memory * float(np.exp(draws.normal(0, error)))),
            )
            for block in range(1, blocks + 1)
            for name, (time, memory) in factors.items()
        ]

    return make


def run_analysis(runs: Sequence[Run], names: Sequence[str], how: Settings = PLAIN) -> Analysis:
    return analyse(runs, [info(name) for name in names], ("base", ""), how, Invocation(("make",)))


def effect(analysis: Analysis, name: str, response: Response = "time") -> Effect:
    (found,) = (e for e in analysis.effects if e.allocator == name and e.response == response)
    return found


def test_a_clear_case(experiment: Callable[..., list[Run]]) -> None:
    runs = experiment({"base": (1, 1), "fast": (0.8, 0.9), "slow": (1.3, 1)})
    found = run_analysis(runs, ["base", "fast", "slow"])
    assert (found.verdict.action, found.verdict.allocator) == ("switch", "fast")
    assert found.verdict.how[0] == f"shell: LD_PRELOAD={LIBRARY} make"
    assert found.pareto == ("fast",)
    assert [effect(found, n).group for n in ("fast", "base", "slow")] == ["a", "b", "c"]
    fast = effect(found, "fast")
    assert fast.low is not None
    assert fast.high is not None
    assert fast.low < fast.ratio < fast.high
    assert fast.ratio == pytest.approx(0.8, abs=0.02)
    assert fast.runs == 6
    base = effect(found, "base", "memory")
    assert (base.ratio, base.low, base.high) == (1, 1, 1)
    time = found.responses[0]
    assert (time.method, time.blocks, time.df) == ("dunnett-t", 6, 10)
    assert time.baseline_value == pytest.approx(2 * 1.35, rel=0.02)
    assert time.anova[1].eta_squared is not None


def test_the_advice_keeps_the_users_own_settings(experiment: Callable[..., list[Run]]) -> None:
    runs = experiment({"base": (1, 1), "fast": (0.8, 0.9)})
    infos = [info("base"), info("fast")]
    invocation = Invocation(("make",), {"MALLOC_ARENA_MAX": "2"})
    found = analyse(runs, infos, ("base", ""), PLAIN, invocation)
    assert found.verdict.how[0] == f"shell: LD_PRELOAD={LIBRARY} MALLOC_ARENA_MAX=2 make"


def test_failed_runs_are_never_a_time(
    experiment: Callable[..., list[Run]], make_run: MakeRun
) -> None:
    sound = experiment({"base": (1, 1), "slow": (1.1, 1)})
    crashed = [
        make_run("crash", b, wall_s=0.001, outcome=Outcome.CRASHED if b == 4 else Outcome.OK)
        for b in range(1, 7)
    ]
    with_it = run_analysis([*sound, *crashed], ["base", "slow", "crash"])
    without = run_analysis(sound, ["base", "slow"])
    assert with_it.effects == without.effects
    assert with_it.verdict == without.verdict
    assert "crash" not in with_it.pareto


def test_a_crash_in_a_warmup_counts(
    experiment: Callable[..., list[Run]], make_run: MakeRun
) -> None:
    runs = experiment({"base": (1, 1), "fast": (0.5, 0.5)})
    warm = make_run("fast", 0, warmup=True, outcome=Outcome.CRASHED)
    found = run_analysis([warm, *runs], ["base", "fast"])
    assert found.verdict.reason == "The other allocator failed: stay with base"
    good = make_run("fast", 0, warmup=True, wall_s=100.0)
    assert run_analysis([good, *runs], ["base", "fast"]).verdict.action == "switch"


def test_a_baseline_without_a_good_run(make_run: MakeRun) -> None:
    runs = [make_run("base", b, outcome=Outcome.TIMEOUT) for b in (1, 2)]
    runs += [make_run("x", b) for b in (1, 2)]
    found = run_analysis(runs, ["base", "x"])
    assert found.effects == ()
    assert found.verdict.action == "undecided"
    assert "baseline has no good run" in found.responses[0].notes[0]


def test_an_interrupted_block_is_used(experiment: Callable[..., list[Run]]) -> None:
    runs = experiment({"base": (1, 1), "x": (0.8, 1), "y": (1, 1)})[:-1]
    found = run_analysis(runs, ["base", "x", "y"])
    assert effect(found, "y").runs == 5
    assert effect(found, "x").runs == 6
    assert found.responses[0].df == 17 - 6 - 2


def test_one_block_gives_points_without_intervals(experiment: Callable[..., list[Run]]) -> None:
    found = run_analysis(experiment({"base": (1, 1), "x": (0.5, 1)}, blocks=1), ["base", "x"])
    x = effect(found, "x")
    assert (x.low, x.high, x.group) == (None, None, "")
    assert found.responses[0].method == "none"
    assert found.responses[0].residual_sd is None
    assert found.verdict.action == "undecided"


def test_identical_runs_are_no_difference(make_run: MakeRun) -> None:
    runs = [make_run(name, block) for block in (1, 2, 3) for name in ("base", "x")]
    found = run_analysis(runs, ["base", "x"])
    assert found.verdict.reason == "No difference that matters: stay with base"
    assert effect(found, "x").group == "a"
    assert "no scatter" in found.responses[0].notes[0]


def test_processor_time_below_the_clock_is_left_out(make_run: MakeRun) -> None:
    runs = [
        make_run(name, block, user_s=0.0, sys_s=0.0 if block == 2 else 0.01)
        for block in (1, 2, 3)
        for name in ("base", "x")
    ]
    found = run_analysis(runs, ["base", "x"])
    assert [e.allocator for e in found.effects if e.response == "cpu"] == ["base"]
    assert "clock" in found.responses[2].notes[0]


def test_notes_name_the_odd_data(experiment: Callable[..., list[Run]]) -> None:
    runs = experiment({"base": (1, 1), "x": (1, 1), "y": (1, 1)}, blocks=3)
    thin = [run for run in runs if run.allocator != "y" or run.block == 1]
    found = run_analysis(thin, ["base", "x", "y", "absent"])
    assert found.responses[0].notes == (
        "y has one good run: its interval relies on the scatter of the others",
        "absent has no good run to compare with the baseline",
    )


@pytest.mark.parametrize(("blocks", "told"), [(8, True), (10, False)])
def test_unequal_scatter_is_named_where_it_matters(
    make_run: MakeRun, blocks: int, told: bool
) -> None:
    draws = np.random.default_rng(3)
    names = ["base", *"stuvwxyz"]
    runs = [
        make_run(
            name,
            block,
            peak_rss_bytes=round(4e8 * float(np.exp(draws.normal(0, 1e-4 * 2**number)))),
        )
        for block in range(1, blocks + 1)
        for number, name in enumerate(names)
    ]
    notes = run_analysis(runs, names).responses[1].notes
    assert any("scatter more than others" in note for note in notes) == told


def test_the_cap_is_applied(experiment: Callable[..., list[Run]]) -> None:
    runs = experiment({"base": (1, 1), "fast": (0.8, 1.0), "lean": (0.9, 0.5)})
    free = run_analysis(runs, ["base", "fast", "lean"])
    capped = run_analysis(
        runs, ["base", "fast", "lean"], Settings(0.95, cap_bytes=300_000_000, seed=1)
    )
    assert free.verdict.allocator == "fast"
    assert capped.verdict.allocator == "lean"
    assert capped.pareto == ("lean",)


def test_the_settings_follow_the_design() -> None:
    design = Design(
        blocks=10, warmup=1, seed=7, baseline="base", until=0.03, looks=(5, 10), stopped_because=""
    )
    found = settings_of(design)
    assert (found.seed, found.margin) == (7, 0.02)
    assert found.level == pytest.approx(0.975)
    fixed = design.model_copy(update={"until": None, "looks": (10,)})
    assert settings_of(fixed).level == pytest.approx(0.95)


def test_a_baseline_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="baseline"):
        run_analysis([], ["x"])
    with pytest.raises(ValueError, match="differ"):
        run_analysis([], ["base", "base"])


@settings(max_examples=15)
@given(st.randoms(use_true_random=False), st.sampled_from([4, 12]))
def test_order_does_not_matter(
    experiment: Callable[..., list[Run]], draw: random.Random, blocks: int
) -> None:
    names = ["base", "x", "y", "z"]
    factors = {"base": (1.0, 1.0), "x": (0.9, 1.0), "y": (0.9, 1.05), "z": (1.0, 0.9)}
    runs = experiment(factors, blocks=blocks)
    before = run_analysis(runs, names)
    draw.shuffle(names)
    draw.shuffle(runs)
    after = run_analysis(runs, names)
    assert after == before


@settings(max_examples=15)
@given(st.floats(1e-3, 1e3), st.sampled_from([4, 12]))
def test_units_do_not_matter(
    experiment: Callable[..., list[Run]], scale: float, blocks: int
) -> None:
    runs = experiment({"base": (1, 1), "x": (0.9, 1), "y": (1.1, 0.8)}, blocks=blocks)
    before = run_analysis(runs, ["base", "x", "y"])
    scaled = [run.model_copy(update={"wall_s": (run.wall_s or 0) * scale}) for run in runs]
    after = run_analysis(scaled, ["base", "x", "y"])
    assert after.verdict == before.verdict
    for one, other in zip(before.effects, after.effects, strict=True):
        assert other.ratio == pytest.approx(one.ratio)
        assert (other.low, other.high) == pytest.approx((one.low, one.high))
        assert other.group == one.group

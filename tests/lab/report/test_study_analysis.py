# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""An analysis as text: what is shown, what is left away, and values in units that can be read."""

import io

import pytest

from heapwright.artefacts.study.acceptance import (
    AcceptanceFigure,
    AcceptanceResult,
    AcceptanceTable,
    Met,
)
from heapwright.artefacts.study.substitution import (
    Judged,
    Overall,
    Rival,
    SubstitutionRow,
    SubstitutionTable,
    Worth,
)
from heapwright.artefacts.study_analysis.document import (
    Agreement,
    Exponent,
    RankedBy,
    Ranking,
    RankingEntry,
    ResponseAnalysis,
    Settings,
    StudyAnalysis,
    StudySummary,
    Verdict,
)
from heapwright.artefacts.study_analysis.terms import AnovaTerm, Diagnostics, Section
from heapwright.report.console import make_console
from heapwright.report.study_analysis import p_text, print_analysis, print_verdict, value_text
from heapwright.report.study_substitution import choice_next, rival_text


def entry(allocator: str, place: int, **figures: object) -> RankingEntry:
    usual = {"mean": 0.5 * place, "percent_over_best": 10.0, "runs": 3, "failed": 0, "group": "a"}
    return RankingEntry.model_validate({"allocator": allocator, "place": place, **usual, **figures})


def term(name: str, p: float, share: float) -> AnovaTerm:
    return AnovaTerm(term=name, kind="factors", df=2, sum_sq=1, mean_sq=0.5, f=3, p=p, eta_sq=share)


def analysis(*, failed: int = 0, simulated: bool = False) -> StudyAnalysis:
    section = Section(
        runs=6,
        treatments=2,
        blocks=3,
        balanced=True,
        sums="type-2",
        df=2,
        residual_sd=0.1,
        total_sum_sq=1,
        anova=(term("size", 0.00001, 0.5), term("threads", 0.6, 0.00001)),
        diagnostics=Diagnostics(warnings=("the scatter is odd",)),
        notes=("a run is missing",),
    )
    ranking = Ranking(
        scope={},
        cells=1,
        blocks=3,
        df=2,
        method="dunnett-t",
        entries=(
            entry("quick", 1, ratio=0.5, low=0.4, high=0.6),
            entry("slow", 2, failed=failed, percent_over_best=None),
        ),
    )
    response = ResponseAnalysis(
        name="time",
        unit="s",
        scale="log",
        simulated=simulated,
        runs=6,
        cells=(),
        overall=section,
        rankings=(ranking,),
        exponents=(
            Exponent(
                by="size",
                exponent=1.02,
                low=0.98,
                high=1.06,
                levels=("1", "2"),
                blocks=3,
                cells=1,
                explained=1,
            ),
        ),
    )
    return StudyAnalysis(
        heapwright_version="0",
        study=StudySummary(name="s", scale="small", treatments=2, blocks=3, runs=8, warmup=2, ok=6),
        settings=Settings(),
        factors=(),
        allocator_factor="allocator",
        baseline="slow",
        outcomes={"ok": 8, "crashed": failed} if failed else {"ok": 8},
        verdict=Verdict(text="In time, quick is best."),
        responses=(response,),
        agreements=(
            Agreement(
                one=RankedBy(response="time", scope={"size": "1"}),
                other=RankedBy(response="time", scope={"size": "2"}),
                allocators=3,
                tau=0.33,
                low=-0.33,
                high=1,
                p=0.5,
            ),
        ),
        notes=("one thing more",),
    )


def printed(document: StudyAnalysis, width: int = 200) -> str:
    stream = io.StringIO()
    print_analysis(make_console(stream, width=width), document)
    return stream.getvalue()


def test_the_verdict_comes_first() -> None:
    lines = printed(analysis()).splitlines()
    assert lines[0] == "s at scale small: 6 good runs of 2 treatments in 3 blocks, 2 discarded"
    assert lines[1] == "In time, quick is best."


def test_every_part_of_an_analysis_is_printed() -> None:
    text = printed(analysis())
    for part in (
        "0.500 (0.400 to 0.600)",
        "variance (type 2)",
        "< 0.0001",
        "- grows with size to the power of 1.02 (0.98 to 1.06)",
        "- the scatter is odd",
        "- a run is missing",
        "- time at size 1 and time at size 2: tau 0.33 (-0.33 to 1.00)",
        "- one thing more",
    ):
        assert part in text


def choice() -> SubstitutionTable:
    judged = Judged(
        response="time",
        worth=Worth.PAYS,
        general=(
            Rival(level="lea", ratio=1.21, low=1.18, high=1.24),
            Rival(level="gone", ratio=None, why="not run"),
        ),
        instead=(Rival(level="reap", ratio=1.07), Rival(level="arena", ratio=None)),
    )
    none = Judged(response="time", worth=Worth.UNKNOWN, general=(), instead=judged.instead)
    return SubstitutionTable(
        factor="allocator",
        custom="own",
        by="program",
        margin=0.05,
        confidence=0.95,
        rows=(
            SubstitutionRow(
                level="parser", overall=Overall.WORTH, words="pays", responses=(judged,)
            ),
            SubstitutionRow(level="server", overall=Overall.UNKNOWN, words="", responses=(none,)),
        ),
    )


def test_whether_one_level_is_worth_it() -> None:
    lines = printed(analysis().model_copy(update={"choice": choice()})).splitlines()
    begin = lines.index("Is own worth it?")
    heading, parser, server = (line.split("  ") for line in lines[begin + 1 : begin + 4])
    assert [cell.strip() for cell in heading if cell] == [
        *("program", "time: best other", "time: reap", "time: arena", "time: here", "verdict"),
    ]
    assert [cell.strip() for cell in parser if cell] == [
        *("parser", "lea 1.21 (1.18 to 1.24)", "1.07", "-", "pays", "worth it"),
    ]
    assert [cell.strip() for cell in server if cell] == [
        *("server", "-", "1.07", "-", "cannot be told", "cannot be told"),
    ]
    assert "worth it?" not in printed(analysis())


def test_the_needed_runs_are_reported_below() -> None:
    def row(level: str, low: float, ratio: float, high: float) -> SubstitutionRow:
        rival = Rival(level="lea", ratio=ratio, low=low, high=high, blocks=10)
        others = (Rival(level="reap", ratio=1.07), Rival(level="arena", ratio=None))
        judged = Judged(response="time", worth=Worth.UNKNOWN, general=(rival,), instead=others)
        return SubstitutionRow(level=level, overall=Overall.UNKNOWN, words="", responses=(judged,))

    rows = (
        row("near", 0.9, 1.1, 1.1**2 / 0.9),
        row("at the margin", 0.9, 1.051, 1.051**2 / 0.9),
        *choice().rows,
    )
    found = choice().model_copy(update={"rows": rows})
    words = choice_next(found)
    # Half-width log(1.1 / 0.9), distance log(1.1 / 1.05): (0.2007 / 0.0465) squared is 18.6.
    assert "near (about 187 blocks)" in words
    assert "at the margin (more than 500 blocks: the difference is about the margin)" in words
    assert "server (no figure to judge by)" in words
    assert "parser" not in words
    text = printed(analysis().model_copy(update={"choice": found}))
    assert words in " ".join(text.split())
    assert choice_next(found.model_copy(update={"rows": choice().rows[:1]})) == ""


def bar() -> AcceptanceTable:
    line = AcceptanceResult(
        words="faster than the fastest",
        response="time",
        asked="at most 0.97",
        verdict=Met.MET,
        ratio=0.95,
        low=0.94,
        high=0.9651,
        rival="lea",
        figures=(
            AcceptanceFigure(scope={}, rival="lea", ratio=0.95, low=0.94, high=0.9651, blocks=9),
        ),
    )
    slow = line.model_copy(
        update={
            "words": "nowhere slow",
            "verdict": Met.NOT,
            "scope": {"program": "perl", "threads": "1"},
            "why": "no figures of a at perl, 1",
        }
    )
    gone = AcceptanceResult(
        words="lean", response="memory", asked="at most 1.00", verdict=Met.UNKNOWN, ratio=None
    )
    return AcceptanceTable(
        factor="allocator",
        level="own",
        rivals=("lea", "a"),
        confidence=0.95,
        verdict=Met.NOT,
        lines=(line, slow, gone),
    )


def test_the_bar_has_a_line_for_each_thing_asked() -> None:
    lines = printed(analysis().model_copy(update={"bar": bar()})).splitlines()
    begin = lines.index("Does own meet its bar?")
    cells = [[cell.strip() for cell in line.split("  ") if cell] for line in lines[begin + 1 :]]
    assert cells[0] == ["asked", "of", "limit", "here", "worst", "verdict"]
    figure = "0.950 (0.940 to 0.965)"
    assert cells[1] == ["faster than the fastest", "time", "at most 0.97", figure, "lea", "met"]
    assert cells[2][4:] == ["lea at perl, 1", "not met"]
    assert cells[3] == ["lean", "memory", "at most 1.00", "-", "-", "cannot be told"]
    assert lines[begin + 5] == "own: 1 of 3 lines of the bar are met."
    assert lines[begin + 6].startswith("Ratios to the best of 2 rivals (lea, a)")
    assert "- no figures of a at perl, 1" in lines[begin:]
    assert "its bar?" not in printed(analysis())


def test_the_verdict_precedes_its_figures() -> None:
    told = choice().model_copy(
        update={
            "about": ("kind", "for"),
            "rows": tuple(
                row.model_copy(update={"about": {"kind": f"a {row.level}", "for": ""}})
                for row in choice().rows
            ),
        }
    )
    lines = printed(analysis().model_copy(update={"choice": told})).splitlines()
    begin = lines.index("Is own worth it?")
    assert lines[begin + 1].split() == ["program", "kind", "for", "verdict"]
    assert lines[begin + 2].startswith("parser   a parser  ")
    assert lines[begin + 2].endswith("worth it")
    assert any("in parentheses their intervals" in line for line in lines[begin:])


def test_a_ratio_that_says_nothing_is_short() -> None:
    rival = Rival(level="a", ratio=1.5, low=0.0, high=123456.0)
    assert rival_text(rival) == "1.50 (0.00 to 1.2e+05)"


def test_negligible_terms_are_left_out() -> None:
    text = printed(analysis())
    assert "threads" not in text


def test_failures_have_a_column_where_there_are_any() -> None:
    assert "failed" not in printed(analysis())
    text = printed(analysis(failed=4))
    assert "4 that failed" in text
    assert "failed" in text.splitlines()[4]


def test_simulated_figures_are_labelled() -> None:
    assert "time, simulated" in printed(analysis(simulated=True))


def test_a_narrow_terminal_loses_nothing() -> None:
    text = printed(analysis(failed=4), width=40)
    assert "0.500 (0.400 to 0.600)" in text
    assert max(map(len, text.splitlines())) <= 40


def test_the_verdict_alone() -> None:
    stream = io.StringIO()
    print_verdict(make_console(stream), analysis())
    assert stream.getvalue() == "In time, quick is best.\n"


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [("s", 0.0032, "3.2 ms"), ("B", 14 * 2**20, "14 MiB"), ("1/s", 1240.0, "1,240 1/s")],
)
def test_values_in_units_that_can_be_read(unit: str, value: float, text: str) -> None:
    assert value_text(unit, value) == text


@pytest.mark.parametrize(
    ("p", "text"), [(None, "-"), (1e-9, "< 0.0001"), (0.034, "0.034"), (0.5, "0.50")]
)
def test_chances(p: float | None, text: str) -> None:
    assert p_text(p) == text

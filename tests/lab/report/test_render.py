# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The whole report at every width, piped, without colour, and from a kept document alone."""

import contextlib
import os
import pty
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
from rich.cells import cell_len

from heapwright.artefacts.comparison.document import Comparison, Design, Verdict
from heapwright.report.console import make_console
from heapwright.report.render import print_report, report_text

MakeComparison = Callable[..., Comparison]
WIDTHS = [40, 60, 80, 100, 200, None]


def words(text: str) -> str:
    """All that is said, without the breaks."""
    return re.sub(r"\s+", "", text)


def label_column(text: str) -> str:
    """What stands left of the figures, where there are columns."""
    lines = text.splitlines()
    return "\n".join(line[: lines[0].find("Time")] for line in lines)


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_at_any_width(make_comparison: MakeComparison, width: int | None) -> None:
    comparison = make_comparison()
    text = report_text(comparison, width=width, advice=True)
    said = words(text)
    for info in comparison.treatments:
        assert words(info.label) in said + words(label_column(text))
    for figure in ("0.880 (0.860 to 0.900)", "1.120 (1.100 to 1.140)", "12.3 (11.9 to 12.8)"):
        assert words(figure) in said
    assert words(comparison.verdict.reason) in said
    assert words("1 ok, 2 crashed") in said
    for line in (*comparison.verdict.notes, *comparison.verdict.how):
        assert words(line) in said


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
def test_lines_fit_except_those_to_be_copied(make_comparison: MakeComparison, width: int) -> None:
    comparison = make_comparison()
    lines = report_text(comparison, width=width, advice=True).splitlines()
    copied = {f"  {line}" for line in comparison.verdict.how}
    assert copied <= set(lines)
    assert max(cell_len(line) for line in lines if line not in copied) <= width


def test_a_pipe_gets_plain_columns(make_comparison: MakeComparison) -> None:
    expected = Path(__file__).with_name("piped.txt").read_text(encoding="utf-8")
    assert report_text(make_comparison()) == expected


def test_a_narrow_terminal_gets_short_lines(make_comparison: MakeComparison) -> None:
    text = report_text(make_comparison(), width=40)
    assert text.startswith("""\
mimalloc *
  time    0.880 (0.860 to 0.900)  a
  memory  0.810 (0.800 to 0.820)
jemalloc
""")
    assert "\nbroken\n  1 ok, 2 crashed\n" in text


def test_80_columns_keep_the_table_by_folding_long_labels(make_comparison: MakeComparison) -> None:
    lines = report_text(make_comparison(), width=80).splitlines()
    assert lines[0].split() == ["Allocator", "Time", "Peak", "memory", "Group", "Front"]
    assert lines[3].startswith("jemalloc ")
    assert lines[4].startswith("[MALLOC_CONF=")


def test_quiet_leaves_the_sentence(make_comparison: MakeComparison) -> None:
    comparison = make_comparison()
    for width in (20, None):
        text = report_text(comparison, width=width, quiet=True)
        assert text == f"{comparison.verdict.reason}\n"


def test_a_kept_document_gives_the_same_report(make_comparison: MakeComparison) -> None:
    comparison = make_comparison()
    kept = Comparison.from_json(comparison.to_json())
    assert report_text(kept, width=80) == report_text(comparison, width=80)


def test_brackets_and_colons_are_not_markup(make_comparison: MakeComparison) -> None:
    verdict = Verdict(action="stay", allocator="x", reason="stay [bold] with :smile: [/]")
    assert "stay [bold] with :smile: [/]" in report_text(make_comparison(verdict=verdict))


def test_a_note_common_to_all_responses_is_printed_once(make_comparison: MakeComparison) -> None:
    responses = tuple(
        summary.model_copy(update={"notes": ("no scatter at all",)})
        for summary in make_comparison().responses
    )
    text = report_text(make_comparison(responses=responses))
    assert "Time and memory: no scatter at all.\n" in text


def on_a_terminal(comparison: Comparison) -> str:
    """The report as a real terminal gets it. A reader with a small buffer reads meanwhile."""
    ours, theirs = pty.openpty()
    with ThreadPoolExecutor(1) as reader:
        text = reader.submit(read_all, ours)
        with os.fdopen(theirs, "w", encoding="utf-8") as stream:
            print_report(make_console(stream, width=100), comparison)
        found = text.result(timeout=60)
    os.close(ours)
    return found


def read_all(descriptor: int) -> str:
    """Until the other end is closed, which a terminal tells with EIO."""
    pieces = []
    with contextlib.suppress(OSError):
        while piece := os.read(descriptor, 4096):
            pieces.append(piece)
    return b"".join(pieces).decode()


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    return monkeypatch


COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]")


@pytest.mark.usefixtures("terminal")
def test_a_terminal_gets_colour(make_comparison: MakeComparison) -> None:
    assert COLOUR.search(on_a_terminal(make_comparison()))


def test_no_color_is_honoured(
    make_comparison: MakeComparison, terminal: pytest.MonkeyPatch
) -> None:
    terminal.setenv("NO_COLOR", "1")
    assert not COLOUR.search(on_a_terminal(make_comparison()))


def piped(comparison: Comparison) -> str:
    stream = StringIO()
    print_report(make_console(stream), comparison)
    return stream.getvalue()


@pytest.mark.parametrize("columns", ["", "0", "-1", "wide"])
def test_a_pipe_is_plain_and_of_any_width(
    make_comparison: MakeComparison, terminal: pytest.MonkeyPatch, columns: str
) -> None:
    terminal.setenv("COLUMNS", columns)
    assert piped(make_comparison()) == report_text(make_comparison(), width=100_000)
    assert "\x1b" not in piped(make_comparison())


def test_a_pipe_is_as_wide_as_the_columns_that_are_asked_for(
    make_comparison: MakeComparison, terminal: pytest.MonkeyPatch
) -> None:
    terminal.setenv("COLUMNS", "40")
    assert piped(make_comparison()) == report_text(make_comparison(), width=40)
    assert "\x1b" not in piped(make_comparison())


def test_an_encoding_without_the_character_gets_an_escape(make_comparison: MakeComparison) -> None:
    raw = BytesIO()
    stream = TextIOWrapper(raw, encoding="ascii")
    design = make_comparison().design.model_copy(update={"stopped_because": "müde"})
    assert isinstance(design, Design)
    print_report(make_console(stream), make_comparison(design=design))
    stream.flush()
    assert rb"m\xfcde" in raw.getvalue()


def test_without_more_being_asked_the_advice_is_for_a_shell(
    make_comparison: MakeComparison,
) -> None:
    comparison = make_comparison()
    how = ("shell: A=1 x", "service: y", "  [Service]", "Dockerfile: ENV A")
    verdict = comparison.verdict.model_copy(update={"how": how})
    short = report_text(comparison.model_copy(update={"verdict": verdict}))
    assert short.rstrip().endswith(
        "  shell: A=1 x\n"
        "  systemd, Dockerfile, Kubernetes, linker: add --advice, or see verdict.how of --json"
    )
    whole = report_text(comparison.model_copy(update={"verdict": verdict}), advice=True)
    assert whole.rstrip().endswith("  Dockerfile: ENV A")

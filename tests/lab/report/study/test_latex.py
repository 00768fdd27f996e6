# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a page become LaTeX: the text of a small one, limits of size, and what TeX says."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.report.pages.latex import HEAD, escaped, latex, tables
from heapwright.report.pages.parts import Data, in_figures, opened, section, table
from heapwright.report.study.page import page
from heapwright.report.study.view import StudyView

SMALL = section(
    "rankings",
    "Rankings & more",
    "<h3>time: 100 %</h3>",
    in_figures(Data(("x", "y"), [("1", "2")]), "the rows of a chart"),
    table(
        ("allocator", "mean", "over the best"),
        [("a_1<br>2", "1.5 ms", "best"), ("[b]", "<b>20 ms</b>", "+12 %")],
    ),
    opened("Pair by pair", table(("pair", "p"), [("a &lt; b", "0.1")])),
)

GOLDEN = (
    HEAD
    + r"""
\begin{table}[!htbp]
\centering
\caption{Rankings \& more. time: 100 \%}
\label{tab:rankings-1}
\begin{tabular}{@{}lrr@{}}
\toprule
allocator & mean & over the best \\
\midrule
a\_1 2 & 1.5 ms & best \\
{}[b] & 20 ms & +12 \% \\
\bottomrule
\end{tabular}
\end{table}

\begin{table}[!htbp]
\centering
\caption{Rankings \& more. time: 100 \%. Pair by pair}
\label{tab:rankings-2}
\begin{tabular}{@{}lr@{}}
\toprule
pair & p \\
\midrule
a \textless{} b & 0.1 \\
\bottomrule
\end{tabular}
\end{table}
"""
)

LONG = ("[--seed '' \\n {b} ~^$ #1", "/usr/lib/" + "ab" * 60, "η² ü 中 “x” → | " * 6, "1.5")


def large() -> str:
    """A page with a table that is too long and too wide, and one with too many columns."""
    long = table(("name", "path", "text", "value"), [LONG] * 30)
    wide = table([f"allocator-{number}" for number in range(14)], [["kingsley"] * 14])
    return section("large", "Of a_b & 100 %", long, wide)


def test_the_text_of_a_small_page() -> None:
    assert latex(SMALL) == GOLDEN


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"\ { } $ & # % _", r"\textbackslash{} \{ \} \$ \& \# \% \_"),
        ("a--b ''", "a-{}-b '{}'"),
        ("---", "-{}-{}-"),
        ("é η² 中", r"é \(\eta\)\textsuperscript{2} U+4E2D"),
        ("/usr/lib/x86_64-linux-gnu", r"/\allowbreak{}usr/\allowbreak{}lib/\allowbreak{}x86\_"),
    ],
)
def test_characters_that_latex_would_take_as_commands(text: str, expected: str) -> None:
    assert escaped(text).startswith(expected)


def test_a_heading_ends_with_its_part_of_the_page() -> None:
    beside = '<div><h4>Beside</h4></div><div class="tables"><h4>Here</h4>'
    text = section("a", "A", beside + table(("b",), [("c",)]) + "</div>" + table(("b",), [("c",)]))
    assert [each.caption for each in tables(text)] == ["A. Here", "A"]


def test_equal_captions_name_the_first_column() -> None:
    text = section("a", "A", table(("b",), [("1",)]), table(("c",), [("1",)]))
    assert [each.caption for each in tables(text)] == ["A, by b", "A, by c"]


def test_large_tables_are_parted_and_fitted() -> None:
    text = latex(large())
    parts = re.findall(r"\\caption\{Of a\\_b \\& 100 \\%, by name \((\d+) of (\d+)\)\}", text)
    assert [int(number) for number, _ in parts] == list(range(1, len(parts) + 1))
    assert {int(total) for _, total in parts} == {len(parts)}
    assert len(parts) > 1
    assert text.count(r"\textbackslash{}n") == 30
    assert text.count(r"\resizebox") == 1
    widths = re.search(r"\\begin\{tabular\}\{@\{\}(.*)@\{\}\}", text)
    assert widths is not None
    shares = [float(share) for share in re.findall(r"dimexpr([\d.]+)", widths[1])]
    assert len(shares) == 4
    assert sum(shares) == pytest.approx(1, abs=0.01)


def test_every_table_of_a_study_has_its_own_label(small: StudyView) -> None:
    text = latex(page(small))
    labels = re.findall(r"\\label\{(.*)\}", text)
    assert len(labels) > 20
    assert len(set(labels)) == len(labels)
    assert "tab:rankings-1" in labels
    assert "bad<b>" not in text
    assert r"bad\textless{}b\textgreater{}" in text


@pytest.mark.slow
def test_latex_takes_the_tables(small: StudyView, tmp_path: Path) -> None:
    engine = shutil.which("pdflatex") or shutil.which("lualatex")
    if engine is None:
        pytest.skip("no pdflatex and no lualatex (package texlive-latex-recommended)")
    document = (
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{array,booktabs,graphicx}"
        r"\begin{document}\input{study}\clearpage\input{large}\end{document}"
    )
    (tmp_path / "paper.tex").write_text(document, encoding="utf-8")
    (tmp_path / "study.tex").write_text(latex(page(small)), encoding="utf-8")
    (tmp_path / "large.tex").write_text(latex(large()), encoding="utf-8")
    done = subprocess.run(
        [engine, "-interaction=nonstopmode", "-halt-on-error", "-draftmode", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "Float too large" not in done.stdout

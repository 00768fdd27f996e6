# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
r"""The tables of a page for papers: one `table` of LaTeX with the rules of booktabs for each.

The HTML of the page is read, so that every table of every kind of page is there. The rows behind a
chart are not: `export` writes them as CSV. A caption is the headings above the table. A label is
the section and the number of the table in it, as in `tab:rankings-2`.

A table that is wider than a line gets columns of a fixed width, in which text is broken. A table
with too many columns for that is scaled to the line. A table that is longer than a page is parted.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser

LINE = 72
"""Characters of a line in a table of the normal size."""
WIDE_LINE = 86
"""Characters of a line in \\footnotesize, which wide tables have."""
PAGE = 40
"""Lines of a table that fit a page, with its caption."""
GAP = 2
"""The space between two columns, in characters."""
UNBROKEN = 16
"""A word that is longer may be broken after punctuation."""

HEAD = r"""% The tables of a page of `heapwright report`.
% The preamble needs \usepackage[T1]{fontenc} and \usepackage{array,booktabs,graphicx}.
"""

MOST_FLOATS = 10
"""LaTeX fails if too many tables without text between them wait for a page."""
CLEARED = "\n\\clearpage\n"

ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "\xa0": "~",
    "²": r"\textsuperscript{2}",
    "³": r"\textsuperscript{3}",
    "µ": r"\(\mu\)",
    "μ": r"\(\mu\)",
    "η": r"\(\eta\)",
    "τ": r"\(\tau\)",
    "\N{MULTIPLICATION SIGN}": r"\(\times\)",
    "·": r"\(\cdot\)",
    "±": r"\(\pm\)",
    "\N{MINUS SIGN}": r"\(-\)",
    "≤": r"\(\le\)",
    "≥": r"\(\ge\)",
    "→": r"\(\rightarrow\)",
    "←": r"\(\leftarrow\)",
    "\N{EN DASH}": "--",
    "\N{EM DASH}": "---",
    "“": "``",
    "”": "''",
    "\N{LEFT SINGLE QUOTATION MARK}": "`",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "…": r"\ldots{}",
}
LATIN = range(0xC0, 0x180)
"""Accented letters, which LaTeX with T1 knows."""
NUMBER = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?( ?(%|[a-zA-Zµ]{1,4}))?")
WITHOUT_FIGURE = {"-", "best", ""}
HEADINGS = {"h2": 2, "h3": 3, "h4": 4}
UNSEEN = {"script", "style", "svg", "button", "nav"}
"""Elements whose text is not a part of a table or heading."""


@dataclass(slots=True)
class Table:
    """A table of the page; cells are plain text. The first row has the headings of the columns."""

    section: str
    number: int
    caption: str
    rows: list[list[str]] = field(default_factory=list)


def latex(page: str) -> str:
    """All tables of a page as LaTeX."""
    floats = [text for each in tables(page) for text in _parts(each)]
    return HEAD + "".join(map("\n".join, _cleared(floats)))


def _cleared(floats: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each float after what separates it from the one before."""
    for number, text in enumerate(floats):
        yield (CLEARED if number and number % MOST_FLOATS == 0 else ""), text


def tables(page: str) -> list[Table]:
    """The tables of a page in their order, without the rows behind charts."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    found = [each for each in reader.tables if len(each.rows) > 1]
    captions = Counter(each.caption for each in found)
    for each in found:
        if captions[each.caption] > 1:
            each.caption += f", by {each.rows[0][0]}"
    return found


class _Reader(HTMLParser):
    """Collects tables with the headings above each of them."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[Table] = []
        self._section = "page"
        self._headings: dict[int, tuple[int, str]] = {}
        """By level: the depth of `div` at which the heading stands, and its text."""
        self._depth = 0
        self._opened: list[str | None] = []
        """The summaries of the open `details`; None for the rows behind a chart."""
        self._text: list[str] | None = None
        """What is read of a heading, a summary or a cell."""
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in UNSEEN:
            self._unseen += 1
        elif tag == "div":
            self._depth += 1
        elif tag == "section":
            self._section = given.get("id") or "page"
        elif tag == "details":
            self._opened.append(None if given.get("class") == "data" else "")
        elif tag == "table":
            number = 1 + sum(each.section == self._section for each in self.tables)
            if not self._hidden:
                self.tables.append(Table(self._section, number, self._caption()))
        elif tag == "tr" and not self._hidden:
            self.tables[-1].rows.append([])
        elif tag in {*HEADINGS, "summary", "th", "td"}:
            self._text = []
        elif tag == "br" and self._text is not None:
            self._text.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in UNSEEN:
            self._unseen -= 1
        elif tag == "div":
            self._depth -= 1
            told = self._headings.items()
            self._headings = {each: text for each, text in told if text[0] <= self._depth}
        elif tag == "details":
            self._opened.pop()
        elif tag in HEADINGS:
            level = HEADINGS[tag]
            above = {each: told for each, told in self._headings.items() if each < level}
            self._headings = {**above, level: (self._depth, self._read())}
        elif tag == "summary":
            if not self._hidden:
                self._opened[-1] = self._read()
        elif tag in {"th", "td"}:
            text = self._read()
            if not self._hidden:
                self.tables[-1].rows[-1].append(text)

    def handle_data(self, data: str) -> None:
        if self._text is not None and not self._unseen:
            self._text.append(data)

    def _read(self) -> str:
        text, self._text = "".join(self._text or ()), None
        return re.sub(r"[ \n]+", " ", text).strip(" ")

    @property
    def _hidden(self) -> bool:
        return None in self._opened

    def _caption(self) -> str:
        above = [*(text for _, text in self._headings.values()), *filter(None, self._opened)]
        return ". ".join(text.rstrip(".") for text in above) or "Table"


def escaped(text: str) -> str:
    """Text for LaTeX. A character that its fonts lack becomes its number, as in U+4E2D."""
    words = (_breakable(word) if len(word) > UNBROKEN else _plain(word) for word in text.split(" "))
    return " ".join(words)


def _plain(word: str) -> str:
    # Two dashes or two apostrophes would become one character.
    return re.sub(r"(?<=-)(?=-)|(?<=')(?=')", "{}", "".join(map(_character, word)))


def _breakable(word: str) -> str:
    """A long word, which may be broken after punctuation and after every few letters."""
    pieces = re.findall(rf"[^/_.,:=;+-]{{1,{UNBROKEN}}}[/_.,:=;+-]*|[/_.,:=;+-]+", word)
    # TeX itself breaks after a hyphen.
    return r"\allowbreak{}".join(map(_plain, pieces)).replace(r"-\allowbreak{}", "-")


def _character(character: str) -> str:
    known = ESCAPES.get(character)
    if known is not None:
        return known
    if (character.isascii() and character.isprintable()) or ord(character) in LATIN:
        return character
    return f"U+{ord(character):04X}"


def _parts(table: Table) -> Iterator[str]:
    """The table as floats, each of which fits a page."""
    heads, *rows = _filled(table.rows)
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    fitted = _fitted(heads, rows, widths)
    pages = list(_pages(rows, fitted or widths))
    for number, page in enumerate(pages, start=1):
        counted = f" ({number} of {len(pages)})" if len(pages) > 1 else ""
        tail = f"-{number}" if number > 1 else ""
        yield _float(
            escaped(table.caption) + counted,
            f"tab:{table.section}-{table.number}{tail}",
            _tabular(_columns(rows, fitted), heads, page),
            _around(widths, fitted),
        )


def _filled(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Rows of equal length."""
    longest = max(map(len, rows))
    return [[*row, *[""] * (longest - len(row))] for row in rows]


def _fitted(
    heads: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int]
) -> list[int] | None:
    """Widths of columns that are broken to fit the line. None: it fits, or no break would help."""
    gaps = GAP * len(widths)
    if sum(widths) + gaps <= LINE:
        return None
    words = [
        max(min(len(word), UNBROKEN) for cell in column for word in cell.split() or [""])
        for column in zip(heads, *rows, strict=True)
    ]
    room = WIDE_LINE - gaps - sum(words)
    if room < 0:
        return None
    wanted = [width - word for width, word in zip(widths, words, strict=True)]
    # A long text gets more room than a short one, but does not take all of it.
    weights = [want**0.7 for want in wanted]
    return [
        word + min(want, int(room * weight / sum(weights)))
        for word, want, weight in zip(words, wanted, weights, strict=True)
    ]


def _pages(rows: Sequence[list[str]], widths: Sequence[int]) -> Iterator[list[list[str]]]:
    page: list[list[str]] = []
    lines = 0
    for row in rows:
        height = max(_lines(cell, width) for cell, width in zip(row, widths, strict=True))
        if page and lines + height > PAGE:
            yield page
            page, lines = [], 0
        page.append(row)
        lines += height
    yield page


def _lines(cell: str, width: int) -> int:
    """Lines of a cell. Where text is broken, a quarter of each line stays empty."""
    return 1 if len(cell) <= width else -(-5 * len(cell) // (4 * width))


def _columns(rows: Sequence[Sequence[str]], fitted: Sequence[int] | None) -> str:
    if fitted is None:
        return "".join("r" if _is_figures(column) else "l" for column in zip(*rows, strict=True))
    whole = sum(fitted) + GAP * len(fitted)
    return "".join(
        rf">{{\raggedright\arraybackslash}}p{{\dimexpr{width / whole + GAP / whole:.3f}\linewidth"
        r"-2\tabcolsep}"
        for width in fitted
    )


def _is_figures(cells: Sequence[str]) -> bool:
    told = [cell for cell in cells if cell not in WITHOUT_FIGURE]
    return bool(told) and all(NUMBER.fullmatch(cell) for cell in told)


def _around(widths: Sequence[int], fitted: Sequence[int] | None) -> tuple[str, str]:
    """What stands before and after the tabular."""
    if fitted is not None:
        return "\\footnotesize\n\\setlength{\\tabcolsep}{3pt}\n", ""
    if sum(widths) + GAP * len(widths) > LINE:
        return "\\resizebox{\\linewidth}{!}{%\n", "}"
    return "", ""


def _tabular(columns: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = (
        rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        _row(heads),
        r"\midrule",
        *map(_row, rows),
        r"\bottomrule",
        r"\end{tabular}",
    )
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    text = " & ".join(map(escaped, cells))
    # After the end of a row, LaTeX takes a star or a bracket for an option of the end.
    return ("{}" if text.startswith(("[", "*")) else "") + rf"{text} \\"


def _float(caption: str, label: str, tabular: str, around: tuple[str, str]) -> str:
    before, after = around
    return (
        f"\\begin{{table}}[!htbp]\n\\centering\n\\caption{{{caption}}}\n\\label{{{label}}}\n"
        f"{before}{tabular}{after}\n\\end{{table}}\n"
    )

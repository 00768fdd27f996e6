# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Check the words and the length of sentences in comments, docstrings, messages and pages.

    python3 scripts/words.py [--count | --list] [PATH…]

The rules, their exceptions and the limits of each folder are in scripts/words.toml. Without an
option, a folder above its limit is listed and the exit status is 1. `--count` prints the table of
all folders. `--list` prints each finding under the paths.
"""

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, String

ROOT = Path(__file__).resolve().parents[1]
RULES = ROOT / "scripts" / "words.toml"
LEXERS = {
    ".hpp": "cpp",
    ".cpp": "cpp",
    ".h": "cpp",
    ".c": "cpp",
    ".in": "cpp",
    ".inc": "cpp",
    ".map": "c",
    ".ld": "c",
    ".js": "javascript",
    ".mjs": "javascript",
    ".css": "css",
    ".awk": "awk",
    ".lua": "lua",
    ".sql": "sql",
    ".pl": "perl",
    ".R": "r",
    ".sh": "bash",
    ".cmake": "cmake",
    ".toml": "toml",
}
NAMES = {"Makefile": "make", "CMakeLists.txt": "cmake"}
# Strings of these folders are data of the tests, not messages.
DATA = re.compile(r"^(tests|catalogue|docs)/|/scripts/|\.toml$")
MESSAGE_WORDS = 4
# Programs of other languages in a string: C, assembler, R, awk, bc and SQL.
SOURCE = re.compile(r"#include <|\.cfi_startproc|\bfor \(|\bprintf \"|\bcreate table\b")
# Indented code, rows of tables, assignments and heads of TOML, and rules: no sentence crosses them.
CODE = re.compile(r"^(```|~~~| {2,}|\||-{3,}|\w[\w.-]* = |\[+[\w.]+\]|\S.* {2,}\S)")
LIST = re.compile(r"^ ?([-*] |\d+\. )")
LABEL = re.compile(
    r"^(Pre|Post|Invariant|Cost|Source|Example|Limit|Layout)s?:"
    r"|^aborts: |^under [\w-]+[,:]"  # the expected deaths of the programs in tests/misuse
)
EXAMPLE = re.compile(r"^Example: \w+<")
# A sentence may start with markup or with a name that has no capital.
NAMED = "granary|heapwright|glibc|musl|jemalloc|mimalloc|snmalloc|rpmalloc|valgrind|callgrind"
SENTENCE = re.compile(
    rf"(?<=[.!?])(?:[\"')]|\*{{1,2}})?\s+(?=[A-Z`\"'(\[*{{]|(?:{NAMED})\b)|:\s+(?=[A-Z])"
)


@dataclass(frozen=True)
class Text:
    """Consecutive lines of one comment, docstring, message or page."""

    line: int
    lines: list[str]
    message: bool = False


@dataclass(frozen=True)
class Finding:
    """`rule` is `words` or `long`."""

    path: str
    line: int
    rule: str
    excerpt: str


@dataclass(frozen=True)
class Rules:
    """The rules of words.toml; `limits` counts findings by folder and rule."""

    words: re.Pattern[str]
    allowed: re.Pattern[str]
    longest: int
    skipped: tuple[str, ...]
    printed: frozenset[str]
    limits: dict[str, dict[str, int]]

    @classmethod
    def read(cls, path: Path = RULES) -> "Rules":
        table = tomllib.loads(path.read_text("utf-8"))
        either = "|".join(table["forbidden"])
        return cls(
            words=re.compile(rf"\b(?:{either})\b", re.IGNORECASE),
            allowed=re.compile("|".join(map(re.escape, table["allowed"])) or "$^"),
            longest=table["longest_sentence"],
            skipped=tuple(table["skipped"]),
            printed=frozenset(table["printed"]),
            limits=table["limits"],
        )


def joined(comments: Iterable[tuple[int, int, str, bool]]) -> Iterator[Text]:
    """Joins comments on consecutive lines that start in the same column.

    A trailing comment, which follows code on its line, starts a text.
    """
    first, column, lines = 0, -1, list[str]()
    for line, at, comment, trailing in comments:
        if lines and not trailing and (line, at) == (first + len(lines), column):
            lines.append(comment)
            continue
        if lines:
            yield Text(first, lines)
        first, column, lines = line, at, [comment]
    if lines:
        yield Text(first, lines)


def python_texts(source: str) -> Iterator[Text]:
    """Comments, docstrings and messages of a Python file."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    yield from joined(
        (
            *token.start,
            re.sub(r"^#:? ?", "", token.string),
            bool(token.line[: token.start[1]].strip()),
        )
        for token in tokens
        if token.type == tokenize.COMMENT
    )
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    tree = ast.parse(source)
    docstrings = set[int]()
    inner = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, documented) and (text := ast.get_docstring(node)):
            docstrings.add(node.body[0].lineno)
            yield Text(node.body[0].lineno, text.split("\n"))
        elif isinstance(node, ast.JoinedStr):
            inner.update(map(id, node.values))
            parts = (part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
            yield Text(node.lineno, "".join(map(str, parts)).split("\n"), message=True)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inner
            and node.lineno not in docstrings
        ):
            yield Text(node.lineno, node.value.split("\n"), message=True)


def lexed_texts(source: str, language: str) -> Iterator[Text]:
    """Comments and messages of a file that Pygments reads."""
    comments = list[tuple[int, int, str, bool]]()
    line, column, trailing = 1, 0, False
    lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    for kind, value in lexer.get_tokens(source):
        if kind in Comment and kind not in Comment.Preproc and not value.startswith("#!"):
            if value.startswith("/*"):
                body = re.sub(r"\A/\*+ ?|\s*\*/\Z", "", value)
                yield Text(line, [re.sub(r"^\s*\* ?", "", each) for each in body.split("\n")])
            else:
                text = re.sub(r"^(///?<?|#+|--) ?", "", value.rstrip())
                comments.append((line, column, text, trailing))
        elif kind in String:
            yield Text(line, [value], message=True)
        line += value.count("\n")
        last = value.rpartition("\n")[2]
        trailing = bool(last.strip()) or (trailing and "\n" not in value)
        column = len(value) - value.rfind("\n") - 1 if "\n" in value else column + len(value)
    yield from joined(comments)


def catalogue_texts(source: str, keys: Container[str]) -> Iterator[Text]:
    """The texts that the tool prints of a file of the catalogue, under the keys of `keys`."""

    def walk(key: str, value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for name, each in value.items():
                yield from walk(name, each)
        elif isinstance(value, list):
            for each in value:
                yield from walk(key, each)
        elif isinstance(value, str) and key in keys:
            yield value

    for text in walk("", tomllib.loads(source)):
        lines = text.split("\n")
        yield Text(source[: max(source.find(lines[0]), 0)].count("\n") + 1, lines)


def page_texts(source: str) -> Iterator[Text]:
    """The paragraphs and the cells of tables of a page."""
    for token in MarkdownIt("commonmark").enable("table").parse(source):
        if token.type == "inline" and token.map:
            yield Text(token.map[0] + 1, token.content.split("\n"))


def texts(path: str, source: str, rules: Rules) -> Iterator[Text]:
    name = Path(path)
    if path.startswith("catalogue/") and name.suffix == ".toml":
        yield from catalogue_texts(source, rules.printed)
    if name.suffix == ".md":
        found = page_texts(source)
    elif name.suffix in (".py", ".pyi"):
        found = python_texts(source)
    elif language := NAMES.get(name.name) or LEXERS.get(name.suffix):
        found = lexed_texts(source, language)
    else:
        return
    for text in found:
        if text.message and (DATA.search(path) or not is_message(" ".join(text.lines))):
            continue
        if not text.lines[0].startswith("SPDX-") or len(text.lines) > 3:
            yield text


def is_message(text: str) -> bool:
    """Whether a string reads as English rather than as data or source code."""
    return (
        not SOURCE.search(text)
        and len(re.findall(r"(?<!\S)[A-Za-z']{2,}[.,;:]?(?!\S)", text)) >= MESSAGE_WORDS
    )


def sentences(lines: list[str]) -> Iterator[str]:
    """The sentences of a text. Lists, labelled lines and blank lines end one.

    Code is left out, and so is the composition behind `Example:` at the head of a layer.
    """
    paragraph = list[str]()
    for line in [*lines, ""]:
        code = CODE.match(line) and not (paragraph and LIST.match(paragraph[0]))
        if not line.strip() or code or LIST.match(line) or LABEL.match(line):
            if not EXAMPLE.match(" ".join(paragraph)):
                yield from SENTENCE.split(" ".join(paragraph))
            paragraph = [] if code else [line.strip()]
        elif not line.startswith("SPDX-"):
            paragraph.append(line.strip())


def findings(path: str, source: str, rules: Rules) -> Iterator[Finding]:
    for text in texts(path, source, rules):
        prose = " ".join(" ".join(text.lines).split())
        for hit in rules.words.finditer(rules.allowed.sub("", prose)):
            around = rules.allowed.sub("", prose)[max(0, hit.start() - 60) : hit.end() + 60]
            yield Finding(path, text.line, "words", f"[{hit[0]}] …{around}…")
        for sentence in sentences(text.lines):
            if len(sentence.split()) > rules.longest:
                yield Finding(path, text.line, "long", sentence)


def folder(path: str, rules: Rules) -> str:
    """The longest folder with a limit that holds the path; otherwise its first folder."""
    holds = [each for each in rules.limits if path == each or path.startswith(f"{each}/")]
    parts = path.split("/")
    return max(holds, key=len, default=parts[0] if len(parts) > 1 else ".")


def counted(found: Iterable[Finding], rules: Rules) -> dict[str, Counter[str]]:
    counts: dict[str, Counter[str]] = {}
    for finding in found:
        counts.setdefault(folder(finding.path, rules), Counter())[finding.rule] += 1
    return counts


def above(counts: dict[str, Counter[str]], rules: Rules) -> set[tuple[str, str]]:
    """The folders and rules with more findings than their limit; no limit means none."""
    return {
        (name, rule)
        for name, count in counts.items()
        for rule, number in count.items()
        if number > rules.limits.get(name, {}).get(rule, 0)
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="check words and sentences")
    parser.add_argument("--count", action="store_true", help="print the table of all folders")
    parser.add_argument("--list", action="store_true", help="print each finding")
    parser.add_argument("paths", nargs="*", default=["."])
    options = parser.parse_args()
    rules = Rules.read()
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *options.paths],
        capture_output=True,
        check=True,
        text=True,
        cwd=ROOT,
    )
    paths = [
        each for each in listed.stdout.split("\0") if each and not each.startswith(rules.skipped)
    ]
    found = [
        finding
        for path in paths
        if (ROOT / path).is_file() and not (ROOT / path).is_symlink()
        for finding in findings(path, (ROOT / path).read_text("utf-8", "replace"), rules)
    ]
    counts = counted(found, rules)
    if options.count:
        for name, count in sorted(counts.items()):
            print(f"{name:32} {count['words']:6} words {count['long']:6} long sentences")
        total = sum(counts.values(), Counter())
        print(f"{'all':32} {total['words']:6} words {total['long']:6} long sentences")
        return 0
    failing = above(counts, rules)
    for finding in found:
        if options.list or (folder(finding.path, rules), finding.rule) in failing:
            print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.excerpt}")
    for name, rule in sorted(failing):
        limit = rules.limits.get(name, {}).get(rule, 0)
        print(f"words: {name} has {counts[name][rule]} findings of `{rule}`, its limit is {limit}")
    return bool(failing) and not options.list


if __name__ == "__main__":
    sys.exit(main())

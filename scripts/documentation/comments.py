# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Comments of C and C++ headers as Markdown, and the declarations that they describe."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from documentation.markup import fenced, plain

LABEL = re.compile(r"^(Pre|Post|Invariants?|Cost|Source|Threads|Misuse|Example)( of [\w ]+)?: ")
BLOCK = re.compile(r"/\*(?P<text>.*?)\*/[ \t]*\n(?P<code>(?:[ \t]*\S[^\n]*\n)*)", re.DOTALL)
DOC = re.compile(r"(?P<doc>(?:^[ \t]*///[^\n]*\n)+)(?P<code>(?:[ \t]*\S[^\n]*\n)+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Declaration:
    """A declaration and its comment."""

    name: str
    code: str
    text: str
    """As Markdown."""


def head_comment(text: str) -> str:
    """The comment at the head of a header, as Markdown, without the licence."""
    if text.startswith("/*"):
        lines = [re.sub(r"^ ?\*? ?", "", line) for line in text[2 : text.index("*/")].splitlines()]
    else:
        lines = []
        for line in text.splitlines():
            if not line.startswith("//"):
                break
            lines.append(line.removeprefix("//").removeprefix(" "))
    return as_markdown([line for line in lines if "SPDX-" not in line])


def as_markdown(lines: list[str]) -> str:
    """Lines of a comment: indented ones are code, a labelled line begins a paragraph."""
    made: list[str] = []
    code: list[str] = []
    for line in [*lines, ""]:
        if re.match(r" {2,}\S", line) and not (
            made and re.match(r"[-*] |\d+\. ", made[-1].strip())
        ):
            code.append(line)
            continue
        if code and line.strip():
            made += ["", fenced(textwrap.dedent("\n".join(code)).strip("\n"), "cpp"), ""]
            code = []
        elif code:
            code.append("")
            continue
        made += _prose(line, made)
    if any(code):
        made += ["", fenced(textwrap.dedent("\n".join(code)).strip("\n"), "cpp")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(made)).strip() + "\n"


def _prose(line: str, before: list[str]) -> list[str]:
    listed = re.match(r" ?[-*] ", line)
    if listed and before and before[-1].strip() and not re.match(r" ?[-*] | {4}", before[-1]):
        return ["", line.strip()]
    if label := LABEL.match(line):
        rest = line[label.end() :]
        value = f"`{rest}`" if label[1] == "Example" else _escaped(rest)
        return ["", f"**{label[0].strip()}** {value}"]
    return [_escaped(line)]


def _escaped(line: str) -> str:
    """HTML escaped outside of `code`."""
    parts = line.split("`")
    return "`".join(plain(part) if index % 2 == 0 else part for index, part in enumerate(parts))


def c_declarations(text: str) -> Iterator[Declaration]:
    """The declarations of a C header that have a comment above them."""
    body = text[text.index("*/") + 2 :]
    for match in BLOCK.finditer(body):
        if body[: match.start()].rpartition("\n")[2].strip():
            continue  # it describes its own line
        code = _without_body(match["code"], body[match.start("code") :])
        name = re.search(r"#define (\w+)|\b(heapwright_\w+|apr_\w+|obstack_\w+)\s*\(", code)
        name = name or re.search(r"(?:struct|enum) (\w+)", code)
        if name is None or match["text"].strip().startswith("For the inline function"):
            continue
        lines = [re.sub(r"^\s*\* ?", "", line) for line in match["text"].splitlines()]
        found = next(group for group in name.groups() if group)
        yield Declaration(found, code, as_markdown([line.strip() for line in lines]))


def _without_body(code: str, rest: str) -> str:
    if re.match(r"\s*(struct|enum|union) \w+ \{", code) and "};" in rest:
        return rest[: rest.index("};") + 2]
    if "{" in code and re.match(r"\s*static inline", code):
        return code[: code.index("{")].rstrip() + ";"
    return code.rstrip()


def cpp_declarations(text: str) -> Iterator[Declaration]:
    """The declarations of a C++ header that have a `///` comment above them."""
    for match in DOC.finditer(text):
        code = textwrap.dedent(_signature(match["code"]))
        named = re.sub(r"\[\[[^\]]*\]\]|template <.*?>\n|requires[^\n]*\n", "", code)
        name = re.search(r"(?:concept|class|struct|using)\s+(\w+)|(\w+)\s*(?:\(|=|;|\{)", named)
        if name is None:
            continue
        lines = [line.strip().removeprefix("///").strip() for line in match["doc"].splitlines()]
        yield Declaration(name[1] or name[2], code, as_markdown(lines))


def _signature(code: str) -> str:
    """A declaration without its body."""
    if "concept " in code or re.match(r"\s*(enum|inline constexpr|static constexpr|using)", code):
        return code.rstrip()
    ends = [index for index in (code.find("{"), code.find(";")) if index >= 0]
    return code[: min(ends)].rstrip() if ends else code.rstrip()


def headers(folder: Path, pattern: str) -> Iterator[tuple[Path, str]]:
    """Each header of a folder with its text."""
    for path in sorted(folder.rglob(pattern)):
        yield path, path.read_text("utf-8")

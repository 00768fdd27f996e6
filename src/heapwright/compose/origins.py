# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Where a composition comes from: a type expression, a header, or another allocator and edits.

Each ends as one expression in which every alias is resolved. A header also keeps its text, as its
author wrote it.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.allocator.catalogue import (
    BrokenAllocator,
    Catalogue,
    ComposedAllocator,
    UserAllocator,
)
from heapwright.artefacts.composition.aliases import Alias, Scope, read_aliases, without_rungs
from heapwright.artefacts.composition.expression import Expression, parse_expression
from heapwright.artefacts.composition.layers import Toolbox, read_header
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.paths import is_file, is_folder
from heapwright.base.spelling import nearest
from heapwright.compose.stack import check_names

QUOTED = re.compile(r'^\s*#\s*include\s*"([^"\n]+)"', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Candidate:
    """What the type of an allocator may be."""

    spelled: str
    """As it is written where the header is included."""
    tree: Expression
    """What it stands for."""
    is_rung: bool
    """Whether the header gives it a name."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What a composition is made of."""

    candidates: tuple[Candidate, ...]
    """From which the type is yet to be chosen; the last of a header comes first."""
    toolbox: Toolbox
    """Of the installation, and the layers that a header brings itself."""
    path: Path | None = None
    """The header that it is from, if that is the user's."""
    text: str = ""
    """The header, for one that is kept as it is."""
    own_layers: str = ""
    """What a header has besides rungs."""

    @property
    def expression(self) -> Expression:
        return self.candidates[0].tree


def read_scope(native: Path, catalogue: Catalogue) -> Scope:
    """The rungs of all compositions, the catalogue's and the user's."""
    aliases: list[Alias] = []
    for entry in (*catalogue.composed, *catalogue.own):
        if not isinstance(entry, BrokenAllocator):
            path = header_of(entry, native)
            if is_file(path):
                aliases += read_aliases(path.read_text(encoding="utf-8", errors="replace"))
    return Scope(aliases)


def header_of(entry: ComposedAllocator | UserAllocator, native: Path) -> Path:
    folder = entry.folder if isinstance(entry, UserAllocator) else native / "include"
    return folder / entry.header


def from_type(text: str, toolbox: Toolbox, scope: Scope) -> Origin:
    """A type expression as it is written on a command line. Raises HeapwrightError."""
    written = parse_expression(text)
    expression = scope.resolve(written)
    check_names(expression, toolbox, scope)
    if not written.arguments and not expression.arguments and not toolbox.find(expression.name):
        raise HeapwrightError(
            f"there is no layer or rung called {text!r}",
            nearest(text, [*toolbox.names, *scope.names]),
        )
    return Origin((Candidate(str(expression), expression, False),), toolbox)


def from_file(path: Path, type_: str, toolbox: Toolbox, scope: Scope) -> Origin:
    """A header of the user's own; `type_` names the rung, or may be any expression. Raises
    HeapwrightError."""
    text = _read(path)
    aliases = read_aliases(text)
    own_layers = without_rungs(text)
    toolbox, both = _with_own(path, text, toolbox, scope)
    named = [alias for alias in aliases if type_ in (alias.name, alias.qualified)]
    if type_ and not named:
        written = parse_expression(type_)
        tree = both.resolve(written)
        check_names(tree, toolbox, both)
        spelled = str(written.changed(lambda each: _from_the_root(each, both)))
        return Origin((Candidate(spelled, tree, False),), toolbox, path, text, own_layers)
    if not aliases:
        raise HeapwrightError(
            f"there is no rung in {path}", "write `using NAME = LAYER<…>;`, or say --type"
        )
    candidates = tuple(
        Candidate(f"::{each.qualified}", both.resolve(each.type, each.scope), True)
        for each in (named[-1:] or reversed(aliases))
    )
    return Origin(candidates, toolbox, path, text, own_layers)


def from_allocator(
    name: str, catalogue: Catalogue, native: Path, toolbox: Toolbox, scope: Scope
) -> Origin:
    """Another shipped allocator, or one of the user's. Raises HeapwrightError."""
    entry = catalogue.find(name)
    if entry is None:
        raise HeapwrightError(
            f"unknown allocator {name!r}",
            nearest(name, catalogue.names) or "`heapwright allocators` lists them",
        )
    if isinstance(entry, BrokenAllocator):
        raise HeapwrightError(f"{name} cannot be used: {entry.reason}")
    if not isinstance(entry, ComposedAllocator | UserAllocator):
        raise HeapwrightError(
            f"{name} is not made of layers, so there is nothing to edit",
            "--from takes a shipped allocator or one that you have composed",
        )
    path = header_of(entry, native)
    text = _read(path)
    own_layers = without_rungs(text)
    toolbox, both = _with_own(path, text, toolbox, scope)
    expression = both.resolve(parse_expression(entry.type))
    if not expression.arguments:
        raise HeapwrightError(f"the rungs of {name} cannot be read in {path}")
    candidate = Candidate(str(expression), expression, False)
    own = path if isinstance(entry, UserAllocator) else None
    return Origin((candidate,), toolbox, own, own_layers=own_layers)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise HeapwrightError(f"{path} is not a text in UTF-8") from error
    except (OSError, ValueError) as error:
        what = "is a folder" if is_folder(path) else f"cannot be read: {_words(error)}"
        raise HeapwrightError(f"{path} {what}") from error


def _words(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


def _from_the_root(expression: Expression, scope: Scope) -> Expression:
    """A rung as it can be written in any namespace, even in one of the same name."""
    alias = scope.find(expression.name) if expression.is_named else None
    return expression if alias is None else Expression(f"::{alias.qualified}")


def _with_own(path: Path, text: str, toolbox: Toolbox, scope: Scope) -> tuple[Toolbox, Scope]:
    """The toolbox and the rungs with what a header, and what it includes, add to them."""
    aliases = scope.aliases
    for each in (text, *(_read(found) for found in quoted(path))):
        toolbox += read_header(without_rungs(each), path.name)
        aliases += read_aliases(each)
    return toolbox, Scope(aliases)


def quoted(path: Path) -> list[Path]:
    """What a header includes in quotes, and that in turn, as far as it is in the header's folder.

    What lies outside is not looked at; the compiler will miss it and say so."""
    home = path.resolve().parent
    todo, found = [path.resolve()], list[Path]()
    while todo:
        current = todo.pop()
        for name in QUOTED.findall(_read(current)):
            other = (current.parent / name).resolve()
            if is_file(other) and other.is_relative_to(home) and other not in found:
                found.append(other)
                todo.append(other)
    return found


def copy_quoted(path: Path, folder: Path, taken: str) -> None:
    """Copy what a header includes in quotes to the same places below `folder`, in which the name
    `taken` is taken. Raises HeapwrightError."""
    for each in quoted(path):
        relative = each.relative_to(path.resolve().parent)
        if str(relative) == taken:
            raise HeapwrightError(f"{path.name} includes {taken!r}, which is its own new name")
        try:
            (folder / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(each, folder / relative)
        except OSError as error:
            raise HeapwrightError(
                f"{each} cannot be copied: {error.strerror or error}",
                exit_code=ExitCode.NOT_WRITTEN,
            ) from error

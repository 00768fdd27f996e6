# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One allocator, from the request to its entry in the user's registry.

Everything happens in a folder that no reader looks at. Only an allocator that compiles, that a
probe sees at work and that passes the conformance suite is moved to its final place.
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.allocator.catalogue import Catalogue, ComposedAllocator, UserAllocator
from heapwright.artefacts.allocator.user_registry import Built, headers_hash, write_entry
from heapwright.artefacts.composition.aliases import read_aliases
from heapwright.artefacts.composition.expression import Expression, parse_expression
from heapwright.artefacts.composition.layers import Toolbox, read_toolbox
from heapwright.base.errors import HeapwrightError
from heapwright.compose.compiler import Answer, Compiler, find_compiler, not_written, write
from heapwright.compose.completion import (
    HEADER,
    WANTED,
    entry_points,
    hides_sizes,
    missing,
    put_on,
    reasons,
)
from heapwright.compose.conformance import Conformance, Failed, Verdict
from heapwright.compose.diagnosis import explain, explain_completed, why
from heapwright.compose.edits import Edit, apply, described
from heapwright.compose.installation import check_name, install, staging
from heapwright.compose.library import build_library, read_recipe
from heapwright.compose.origins import (
    Candidate,
    Origin,
    copy_quoted,
    from_allocator,
    from_file,
    from_type,
    header_of,
    read_scope,
)
from heapwright.compose.own_sizes import check_own_sizes
from heapwright.compose.questions import Failure, Questions
from heapwright.compose.repairs import meet_needs, raise_classes
from heapwright.compose.source_text import write_header, write_rungs
from heapwright.compose.sources import Sources

MOST_FAILED = 12


class NotComposableError(HeapwrightError):
    """What is wrong, in one line, and `pages`, all that the compiler says of it."""

    def __init__(self, line: str, pages: str, hint: str = "") -> None:
        super().__init__(line, hint)
        self.pages = pages


class UnprovedError(HeapwrightError):
    """A library compiles, but fails its tests; `by_machine`: it may be the fault of the machine."""

    def __init__(self, line: str, hint: str = "", *, by_machine: bool = False) -> None:
        super().__init__(line, hint)
        self.by_machine = by_machine


@dataclass(frozen=True, slots=True)
class Order:
    """The request; exactly one of `type` alone, `file` and `base`."""

    name: str
    type: str = ""
    file: Path | None = None
    base: str = ""
    edits: tuple[Edit, ...] = ()
    caption: str = ""
    compiler: str | None = None
    force: bool = False
    command: str = ""
    """The order as it was given, for the header."""


@dataclass(frozen=True, slots=True)
class Shop:
    """What there is to work with."""

    native: Path
    catalogue: Catalogue
    allocators: Path
    """The folder of the user's registry."""
    environment: Mapping[str, str]
    conformance: Path
    preload: Callable[[Path], str]
    """A library's path as the loader reads it."""
    judge: Callable[[str, Path], str]
    """Why a library cannot be used, or nothing."""
    tell: Callable[[str, int, int], None]
    """Called with the present step, its finished parts and the number of its parts."""


@dataclass(frozen=True, slots=True)
class Made:
    """What came of an order."""

    entry: ComposedAllocator
    folder: Path
    notes: tuple[str, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class _Draft:
    """A header that is written, the type that it defines and that type's tree."""

    type: str
    own: Expression
    """The request."""
    expression: Expression
    """That, with what was put on top."""
    notes: tuple[str, ...]
    toolbox: Toolbox
    includes: str
    """Lines that make the layers of the user's known."""
    hidden: str = ""
    """The heap as it is spelled, if a rung on top hides the sizes that it states."""


def compose(order: Order, shop: Shop) -> Made:
    """Carry out an order. Raises HeapwrightError; nothing is left of it then."""
    check_name(order.name, shop.catalogue, shop.allocators, force=order.force)
    recipe = read_recipe(shop.native)
    toolbox = read_toolbox(shop.native / "include")
    origin = _origin(order, shop, toolbox)
    with staging(shop.allocators, order.name) as folder:
        work = folder / ".work"
        work.mkdir()
        compiler = find_compiler(order.compiler, shop.environment, work)
        compiler.include = (shop.native / "include", shop.native, folder)
        shop.tell("compiling each layer", 0, 0)
        own = Sources(folder, order.name, origin)
        draft = (_from_header if origin.text else _from_expression)(order, origin, compiler, own)
        header = f"{order.name}.hpp"
        caption = " ".join((order.caption or _caption(order)).split())
        base = shop.catalogue.find(order.base) if order.base else None
        offers = base.entry_points if isinstance(base, ComposedAllocator | UserAllocator) else ()
        points = entry_points(draft.expression, offers, draft.toolbox)
        entry = ComposedAllocator(order.name, header, draft.type, caption, points)
        shop.tell("compiling the allocator", 0, 0)
        library, answer = build_library(compiler, shop.native, folder, entry)
        if not answer.valid:
            raise NotComposableError(_why_not(draft, compiler, answer, own), answer.pages)
        wrong = check_own_sizes(draft.hidden, draft.includes, compiler) if draft.hidden else None
        if isinstance(wrong, Answer):
            raise NotComposableError(_why_not(draft, compiler, wrong, own), wrong.pages)
        verdict = _proved(order, shop, library, wrong)
        built = Built(recipe.version, headers_hash(shop.native), compiler.version)
        _finish(folder, work, entry, built)
        place = install(folder, shop.allocators, order.name, force=order.force)
    return Made(entry, place, draft.notes, verdict)


def _origin(order: Order, shop: Shop, toolbox: Toolbox) -> Origin:
    scope = read_scope(shop.native, shop.catalogue)
    if order.base:
        own = shop.catalogue.find(order.base)
        if isinstance(own, UserAllocator) and not order.edits:
            return from_file(header_of(own, shop.native), own.type, toolbox, scope)
        return from_allocator(order.base, shop.catalogue, shop.native, toolbox, scope)
    if order.file is not None:
        return from_file(order.file, order.type, toolbox, scope)
    return from_type(order.type, toolbox, scope)


def _caption(order: Order) -> str:
    if order.file is not None:
        return f"composed from {order.file.name}"
    if order.type:
        return order.type
    edits = ", ".join(map(described, order.edits))
    return f"{order.base} with {edits}" if edits else order.base


def _from_expression(order: Order, origin: Origin, compiler: Compiler, own: Sources) -> _Draft:
    """Edit, repair and complete an expression, and write its header."""
    folder = own.folder
    toolbox, expression, include = origin.toolbox, origin.expression, ""
    if origin.own_layers:
        include = f"{order.name}-layers.hpp"
        write(folder / include, origin.own_layers)
        if origin.path is not None:
            copy_quoted(origin.path, folder, include)
    line = f'#include "{include}"\n' if include else ""
    questions = Questions(compiler, toolbox, line + HEADER)
    notes: list[str] = []
    if order.edits:
        for edit in order.edits:
            expression = apply(edit, expression, toolbox)
        removed = frozenset(edit.what for edit in order.edits if edit.kind == "remove")
        met = meet_needs(expression, questions, toolbox, removed)
        raised = raise_classes(met.expression, origin.expression, compiler, toolbox, line)
        expression = raised.expression
        notes += [*met.notes, *raised.notes]
    facts = questions.survey(expression, WANTED)
    if not isinstance(facts, frozenset):
        raise _refusal(facts, expression, questions, toolbox, own)
    rungs = missing(expression, facts, toolbox)
    whole = put_on(expression, rungs)
    head = (f"{order.caption or _caption(order)}.", f"Made by: {order.command}")
    written = write_header(order.name, whole, toolbox, head, include)
    write(folder / f"{order.name}.hpp", written.text)
    notes += reasons(rungs, facts)
    hidden = str(expression) if hides_sizes(rungs, facts) else ""
    return _Draft(written.type, expression, whole, tuple(notes), toolbox, line + HEADER, hidden)


def _from_header(order: Order, origin: Origin, compiler: Compiler, own: Sources) -> _Draft:
    """Take over a header as it is; if its type lacks rungs, they are written at its end."""
    folder = own.folder
    toolbox, path = origin.toolbox, folder / f"{order.name}.hpp"
    write(path, origin.text)
    if origin.path is not None:
        copy_quoted(origin.path, folder, path.name)
    includes = f'#include "{path.name}"\n{HEADER}'
    chosen, facts = _choose(origin, compiler, includes, own)
    rungs = missing(chosen.tree, facts, toolbox)
    if chosen.is_rung and not rungs:
        type_ = chosen.spelled.removeprefix("::")
        return _Draft(type_, chosen.tree, chosen.tree, (), toolbox, includes)
    top = put_on(parse_expression(chosen.spelled), rungs)
    taken = (alias.name for alias in read_aliases(origin.text))
    written = write_rungs(order.name, top, toolbox, taken)
    write(path, f"{origin.text}\n// Put on top by heapwright compose.\n{written.text}")
    whole = put_on(chosen.tree, rungs)
    hidden = chosen.spelled if hides_sizes(rungs, facts) else ""
    notes = reasons(rungs, facts)
    return _Draft(written.type, chosen.tree, whole, notes, toolbox, includes, hidden)


def _why_not(draft: _Draft, compiler: Compiler, answer: Answer, own: Sources) -> str:
    """Why a header of which each rung was looked at does not compile after all."""
    if line := own.complaint(answer):
        return line
    if own.origin.text:  # without the rungs on top, whose errors would hide the answer
        write(own.folder / f"{own.name}.hpp", own.origin.text)
    questions = Questions(compiler, draft.toolbox, draft.includes + own.namespaces)
    found = questions.misfit(draft.expression)
    if isinstance(found, Failure):
        text = explain_completed(found, draft.own, draft.expression, draft.toolbox)
        return f"{own.rung(draft.own)}{text}"
    return why(draft.expression, questions, draft.toolbox, answer)


def _choose(
    origin: Origin, compiler: Compiler, includes: str, own: Sources
) -> tuple[Candidate, frozenset[str]]:
    """The last of the candidates that is complete, else the last that is a heap."""
    questions = Questions(compiler, origin.toolbox, includes)
    heaps = []
    first: frozenset[str] | None = None
    for candidate in origin.candidates:
        facts = questions.survey(Expression(candidate.spelled), WANTED)
        if not isinstance(facts, frozenset):
            raise _broken_header(origin, candidate, compiler, facts, own)
        first = facts if first is None else first
        if "complete" in facts:
            return candidate, facts
        if "heap" in facts:
            heaps.append((candidate, facts))
    return heaps[0] if heaps else (origin.candidates[0], first or frozenset())


def _broken_header(
    origin: Origin,
    candidate: Candidate,
    compiler: Compiler,
    said: Failure | Answer,
    sources: Sources,
) -> NotComposableError:
    """Why a header does not compile: its own text, or one of its rungs, tried without the rest."""
    known = said if isinstance(said, Answer) else None
    pages = known.pages if known else ""
    includes = ""
    line = sources.complaint(known) if known else ""
    if origin.own_layers:
        own = compiler.folder / "own_layers.hpp"
        write(own, origin.own_layers)
        includes = f'#include "{own}"\n'
        complaint = known.complaint if known else None
        if complaint is not None and not compiler.ask(includes).valid:
            file = Path(complaint.file).name
            return NotComposableError(line or f"{file}:{complaint.line}: {complaint.text}", pages)
    bare = Questions(compiler, origin.toolbox, includes + HEADER)
    for rung in reversed(origin.candidates):
        found = bare.misfit(rung.tree) if rung.tree.arguments else None
        if isinstance(found, Failure):
            return NotComposableError(explain(found, rung.tree, origin.toolbox), pages)
    return NotComposableError(line or why(candidate.tree, bare, origin.toolbox, known), pages)


def _refusal(
    found: Failure | Answer,
    expression: Expression,
    questions: Questions,
    toolbox: Toolbox,
    own: Sources,
) -> NotComposableError:
    if isinstance(found, Failure):
        pages = questions.pages(expression)
        return NotComposableError(explain(found, expression, toolbox), pages)
    if line := own.complaint(found):
        return NotComposableError(line, found.pages)
    return NotComposableError(why(expression, questions, toolbox, found), found.pages)


def _proved(order: Order, shop: Shop, library: Path, wrong: Failed | None) -> Verdict:
    """Refuse a library that no program can use, or that does not do what malloc must. `wrong` is
    what was found of the heap below the rungs that were put on top."""
    shop.tell("probing the library", 0, 0)
    if reason := shop.judge(order.name, library):
        raise UnprovedError(f"it compiles, but it cannot be used: {reason}", by_machine=True)
    suite = Conformance(shop.conformance, shop.preload(library), shop.environment)
    verdict = suite.run(lambda done, of: shop.tell("running the conformance suite", done, of))
    failed = (*([wrong] if wrong else []), *verdict.failed)
    if not failed:
        return verdict
    lines = [f"{each.case}: {each.why}" for each in failed[:MOST_FAILED]]
    if more := len(failed) - MOST_FAILED:
        lines += [f"and {more} more"] if more > 0 else []
    if verdict.left_out:
        lines.append(f"{verdict.left_out} cases were not begun, because one hung")
    count = len(failed)
    raise UnprovedError(
        f"it compiles, but does not do what malloc must: {count} "
        f"conformance case{'' if count == 1 else 's'} failed; nothing is installed",
        "\n".join(lines),
        by_machine=all(each.by_machine for each in failed),
    )


def _finish(folder: Path, work: Path, entry: ComposedAllocator, built: Built) -> None:
    """Leave in the folder what is to be kept."""
    try:
        shutil.rmtree(work)
        write_entry(folder, entry, built)
    except OSError as error:
        raise not_written(folder, error) from error

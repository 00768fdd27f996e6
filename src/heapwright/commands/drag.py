# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright drag`, after its options are read: observe, name call sites, print.

All refusals come before the command runs.
"""

import os
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from heapwright import __version__
from heapwright.artefacts.drag.document import Drag, Instrument, Provenance
from heapwright.artefacts.profile.calls import CodeObject, Function
from heapwright.base import native
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.output import Outputs, name_page
from heapwright.commands.setup import check
from heapwright.commands.text import printing
from heapwright.drag import instrumented, valgrind
from heapwright.drag.account import Account, Place, document_of
from heapwright.experiment.preload import PreloadPaths
from heapwright.profile.symbols import names, objects
from heapwright.report.console import make_console
from heapwright.report.drag.page import page
from heapwright.report.drag.summary import print_summary


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    command: tuple[str, ...]
    instrument: Instrument
    calls: int
    json_file: str | None
    html_file: str | None
    quiet: bool


def print_flags() -> None:
    """The command in one line, for a shell."""
    print(" ".join(instrumented.flags()))  # noqa: T201


def run_drag(options: Options) -> ExitCode:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
    outputs = Outputs(json=options.json_file, html=options.html_file)
    found, warnings = watch_command(options.command, options.instrument, options.calls)
    failure = outputs.write(json=found.to_json, html=lambda: _page(found))
    for note in warnings:
        print(f"heapwright: {note}", file=sys.stderr)  # noqa: T201
    _print(found, options, outputs)
    name_page(outputs, failure, quiet=options.quiet)
    if failure is not None:
        raise failure
    return ExitCode.INTERRUPTED if found.provenance.interrupted else ExitCode.OK


def watch_command(
    command: tuple[str, ...], instrument: Instrument, calls: int = 12
) -> tuple[Drag, tuple[str, ...]]:
    """Run the command; return its drag and the notes on it. Raises HeapwrightError."""
    environment = dict(os.environ)
    if instrument == "valgrind" and (reason := valgrind.missing()):
        raise HeapwrightError(f"nothing can be watched: {reason}", valgrind.INSTALL)
    warnings = check(command, Path.cwd(), environment, shell=False)
    library = valgrind.LIBRARY if instrument == "valgrind" else instrumented.LIBRARY
    began = datetime.now(UTC).isoformat(timespec="seconds")
    with PreloadPaths() as paths:
        own = environment.get("LD_PRELOAD", "")
        preload = ":".join(filter(None, (paths.of(native.library(library)), own)))
        watch = _by_valgrind if instrument == "valgrind" else _by_instrumentation
        account, origin = watch(command, preload, environment, calls)
    origin = origin.model_copy(update={"began": began, "heapwright_version": __version__})
    return document_of(account, origin, name_places), warnings


def _by_valgrind(
    command: tuple[str, ...], preload: str, environment: Mapping[str, str], calls: int
) -> tuple[Account, Provenance]:
    seen = valgrind.watch(command, preload, environment, calls=calls)
    report = seen.report
    return seen.account, Provenance(
        command=command,
        means="valgrind",
        seconds=report.seconds,
        exit_status=report.exit_status,
        signal=report.signal,
        interrupted=report.limit is not None,
        replaced=report.replaced,
        children=report.children,
        threads=report.threads,
    )


def _by_instrumentation(
    command: tuple[str, ...], preload: str, environment: Mapping[str, str], calls: int
) -> tuple[Account, Provenance]:
    del calls
    watched = instrumented.watch(command, preload, environment)
    try:
        account = Account.model_validate_json(watched.document)
    except ValidationError as error:
        raise HeapwrightError(f"the account that {command[0]} left cannot be read") from error
    return account, Provenance(
        command=command,
        means="instrumented",
        seconds=watched.seconds,
        exit_status=watched.exit_status,
        signal=watched.signal,
        threads=account.threads,
    )


def name_places(places: Sequence[Place]) -> list[tuple[str, ...]]:
    """The functions at each place, innermost first, as well as the files on this machine can."""
    asked: dict[str, set[int]] = defaultdict(set)
    for path, address in places:
        asked[path].add(address)
    files = {path: number for number, path in enumerate(asked)}
    found: dict[tuple[int, int], tuple[Function, ...]] = {}
    for path, addresses in asked.items():
        for address, functions in _in_file(path, sorted(addresses)):
            found[files[path], address] = functions
    readable = names.readable(found)
    return [
        tuple(each.in_words for each in reversed(readable[files[path], address]))
        for path, address in places
    ]


def _in_file(path: str, addresses: list[int]) -> Iterator[tuple[int, tuple[Function, ...]]]:
    if not path:
        yield from ((address, (Function(name=f"{address:#x}"),)) for address in addresses)
        return
    code = CodeObject(path=path, build_id=objects.build_id(Path(path)) or "")
    yield from names.in_object(code, addresses).items()


def _page(found: Drag) -> str:
    return page(found)


def _print(found: Drag, options: Options, outputs: Outputs) -> None:
    with printing():
        print_summary(make_console(outputs.stream), found, quiet=options.quiet)

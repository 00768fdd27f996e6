# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Counts what any allocator executes and writes while a program runs, under valgrind.

heapwright-count runs valgrind's tracer on the program and reads its trace. A library of heapwright,
the marks, is preloaded before the allocator. It reports when a thread is inside the allocator.
Valgrind is run as a program and is not linked. docs/explanation/counting.md explains the figures.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pydantic import BaseModel, ConfigDict, ValidationError

from heapwright.artefacts.run.counts import Counts
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.runner import with_preload

OUTPUT_KEPT = 64 << 10
GRACE_S = 20.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a count. At a limit the count ends and returns its partial result."""

    seconds: float = 120.0
    trace_bytes: int = 4 << 30
    """About 14 bytes for each instruction and each access to memory."""


def missing() -> str | None:
    """Why nothing can be counted here, in one sentence; None if it can."""
    if shutil.which("valgrind") is None:
        return "valgrind is not installed (package valgrind)"
    try:
        native.program("count")
        native.library("marks")
    except native.NativeMissingError as error:
        return error.message
    return None


def count(
    library: Path | None,
    environment: Mapping[str, str],
    argv: Sequence[str],
    operations: int | None = None,
    limits: Limits | None = None,
) -> Counts:
    """Run the program with `library` preloaded (None: the C library's malloc) and count.

    `environment` is the complete environment of the program. `operations` is the number of its
    operations. Without it, the JSON object on the program's last line of output states the number.

    A count that a limit ended, or whose program failed, is returned as incomplete. Raises
    HeapwrightError if nothing can be counted: valgrind or the program is missing, or the preload
    has no effect. The hint names a package to install where one helps.
    """
    if reason := missing():
        raise HeapwrightError(f"nothing can be counted: {reason}", _remedy(reason))
    limits = limits or Limits()
    with PreloadPaths() as paths, tempfile.TemporaryFile() as output:
        preload = [native.library("marks"), *([] if library is None else [library])]
        whole = with_preload(environment, *(paths.of(each) for each in preload))
        report, errors = _run(argv, whole, limits, output)
        text = _tail(output)
    _check(report, library, argv, errors)
    said = operations if operations is not None else _operations_in(text)
    reason = _incomplete(report, limits, errors)
    return Counts(
        operations=None if reason else said,
        calls=report.calls,
        threads=report.threads,
        instructions=report.instructions,
        lock_prefixed=report.lock_prefixed,
        exchanges=report.exchanges,
        metadata_lines=report.metadata_lines,
        shared_metadata_lines=report.shared_metadata_lines,
        writes_to_shared_lines=report.writes_to_shared_lines,
        provider=report.provider,
        complete=not reason,
        reason=reason,
        seconds=report.seconds,
        trace_bytes=report.trace_bytes,
        output=text,
    )


class _Report(BaseModel):
    """The output of heapwright-count; only the error if no process ran."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    spawn_error: str | None = None
    limit: str | None = None
    exit_status: int | None = None
    signal: int | None = None
    seconds: float = 0.0
    trace_bytes: int = 0
    marked: bool = False
    """The marks were in the program and found themselves under valgrind."""
    traced: bool = False
    """There was at least one instruction."""
    provider: str = ""
    words: str = ""
    calls: int = 0
    idle_calls: int = 0
    threads: int = 0
    instructions: int = 0
    lock_prefixed: int = 0
    exchanges: int = 0
    unknown_instructions: int = 0
    misread_lines: int = 0
    metadata_lines: int = 0
    shared_metadata_lines: int = 0
    writes_to_shared_lines: int = 0


class _Said(BaseModel):
    """The used parts of a workload's JSON line."""

    model_config = ConfigDict(extra="ignore")

    operations: int


def _run(
    argv: Sequence[str], environment: Mapping[str, str], limits: Limits, output: IO[bytes]
) -> tuple[_Report, str]:
    """Run heapwright-count to its end; return its report and its standard error."""
    program = native.program("count")
    with tempfile.TemporaryFile() as result, tempfile.TemporaryFile() as errors:
        command = [str(program), "--result-fd", str(result.fileno())]
        command += ["--seconds", str(limits.seconds), "--trace-bytes", str(limits.trace_bytes)]
        with subprocess.Popen(
            [*command, "--", *argv],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            pass_fds=[result.fileno()],
            start_new_session=True,
        ) as process:
            try:
                process.wait(limits.seconds + GRACE_S)
            except subprocess.TimeoutExpired as error:
                _end(process)
                raise HeapwrightError(f"the counting program hangs: {error}") from error
            except BaseException:
                _end(process)
                raise
        said = _tail(errors)
        text = _tail(result)
    try:
        return _Report.model_validate_json(text), said
    except ValidationError as error:
        words = said.strip().splitlines() or [f"it ended with {process.returncode}"]
        raise HeapwrightError(f"the counting program failed: {words[-1]}") from error


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop heapwright-count and its program; kill both if they do not stop."""
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(2.0)
        except subprocess.TimeoutExpired:
            process.kill()


def _tail(file: IO[bytes]) -> str:
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - OUTPUT_KEPT))
    return file.read().decode(errors="replace")


def _check(report: _Report, library: Path | None, argv: Sequence[str], errors: str) -> None:
    """Raise if another program or allocator was counted than requested."""
    name = argv[0] if argv else ""
    if report.spawn_error:
        raise HeapwrightError(report.spawn_error, "apt-get install valgrind")
    if not report.traced:
        # Without a limit, valgrind left before the program began, and says why.
        said = f": {_last_line(errors)}" if errors.strip() else ""
        if report.limit is None or said:
            raise HeapwrightError(f"valgrind did not run {name}{said}")
    elif not report.marked and report.limit is None and report.signal is None:
        raise HeapwrightError(
            f"nothing of {name} can be counted: it never called malloc where a preload sees it",
            "is it linked statically?",
        )
    if library is not None and report.provider and not _same(Path(report.provider), library):
        raise HeapwrightError(f"with {library} preloaded, malloc is that of {report.provider}")


def _same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return False


def _incomplete(report: _Report, limits: Limits, errors: str) -> str:
    """Why the figures are not those of the whole run; "" if they are."""
    if report.limit is not None:
        return {
            "time": f"it took more than {limits.seconds:g} s and was ended",
            "trace": f"its trace grew beyond {limits.trace_bytes} bytes and it was ended",
        }.get(report.limit, "it was interrupted")
    if report.signal is not None or report.exit_status != 0:
        last = _last_line(errors)
        return f"the program {_ending(report)}{f': {last}' if last else ''}"
    if report.misread_lines:
        return f"{report.misread_lines} lines of the trace could not be read"
    if report.unknown_instructions:
        return f"{report.unknown_instructions} instructions could not be looked at"
    return ""


def _ending(report: _Report) -> str:
    if report.signal is None:
        return f"left with status {report.exit_status}"
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(report.signal).name}"
    return f"was killed by signal {report.signal}"


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _operations_in(text: str) -> int | None:
    try:
        return _Said.model_validate_json(_last_line(text)).operations
    except ValidationError:
        return None


def _remedy(reason: str) -> str:
    return "apt-get install valgrind" if "valgrind" in reason else "build and install again"

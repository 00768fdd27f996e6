# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The command `heapwright`: its verbs, and how it leaves.

Errors that a user can bring about are printed as a sentence and a hint, on standard error, and the
exit status is that of the error; nobody sees a traceback for them. A reader that went away
(`| head`) ends the command silently.
"""

import errno
import os
import signal
import sys
from typing import Annotated

import typer
from rich.console import Console

from heapwright import __version__
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.scratch import sweep
from heapwright.cli import (
    agree,
    allocators,
    analyse,
    compare,
    compose,
    convert,
    doctor,
    drag,
    explain,
    gate,
    kernel,
    options,
    profile,
    programs,
    record,
    replay,
    report,
    study,
    study_run,
    synth,
    taxonomy,
    trace,
    workloads,
)

SHORT_OF = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EAGAIN)
LIMITS = "`ulimit -a` shows the limits that are set here, `df` whether a disk is full"

app = typer.Typer(
    name="heapwright",
    help="A workshop and a laboratory for memory allocators.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("agree", epilog=agree.EXAMPLES)(agree.agree)
app.add_typer(allocators.app, name="allocators")
app.command("analyse", epilog=analyse.EXAMPLES)(analyse.analyse)
app.command("compare", context_settings=compare.CONTEXT)(compare.compare)
app.command("compose", cls=compose.OrderedCommand, epilog=compose.EXAMPLES)(compose.compose)
app.command("doctor", cls=options.CommandAfterDashes, epilog=doctor.EXAMPLES)(doctor.doctor)
app.command("drag", cls=options.CommandAfterDashes, epilog=drag.EXAMPLES)(drag.drag)
app.command("explain", cls=options.CommandAfterDashes, epilog=explain.EXAMPLES)(explain.explain)
app.command("gate", epilog=gate.EXAMPLES)(gate.gate)
app.add_typer(kernel.app, name="kernel")
app.command("profile", cls=options.CommandAfterDashes, epilog=profile.EXAMPLES)(profile.profile)
app.add_typer(programs.app, name="programs")
app.command("replay", epilog=replay.EXAMPLES)(replay.replay)
app.command("report", epilog=report.EXAMPLES)(report.report)
app.command("synth", epilog=synth.EXAMPLES)(synth.synth)
app.command("record", context_settings=record.CONTEXT)(record.record)
study_run.register(study.app)
app.add_typer(study.app, name="study")
app.command("taxonomy")(taxonomy.taxonomy)
app.add_typer(trace.app, name="trace")
app.command("export")(convert.export)
app.command("import")(convert.import_)
app.add_typer(workloads.app, name="workloads")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"heapwright {__version__}")  # noqa: T201
        raise typer.Exit


@app.callback()
def general_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and leave."
        ),
    ] = False,
) -> None:
    """Options that come before the verb."""
    del version
    sweep()


def main() -> None:
    """Run the command line and leave with its exit status."""
    status: int = ExitCode.OK
    _open_standard_streams()
    try:
        app()
    except SystemExit as leaving:
        status = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except HeapwrightError as error:
        status = error.exit_code
        print_error(error)
    except BrokenPipeError:
        status = 128 + signal.SIGPIPE
    except (OSError, MemoryError) as error:
        if isinstance(error, OSError) and error.errno not in SHORT_OF:
            raise
        why = error.strerror if isinstance(error, OSError) else "no memory"
        status = ExitCode.NOTHING_COMPARED
        print_error(HeapwrightError(f"the system gives heapwright too little: {why}", LIMITS))
    except KeyboardInterrupt:
        status = ExitCode.INTERRUPTED
    sys.exit(_flushed(status))


def _open_standard_streams() -> None:
    """Whoever started us with a stream closed does not want what goes there; it is no error.

    Nor may a file that is opened later get its number, and what is printed with it.
    """
    missing = [name for name in ("stdin", "stdout", "stderr") if getattr(sys, name) is None]
    for name in missing:
        descriptor = os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
        setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", closefd=False))


def print_error(error: HeapwrightError) -> None:
    """The sentence, and what to do about it."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print("[bold red]heapwright:[/] ", end="")
    console.print(error.message, markup=False)
    for line in error.hint.splitlines():
        console.print(f"  {line}", markup=False)


def _flushed(status: int) -> int:
    """Flush while an error can still be dealt with; the interpreter would print a traceback."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        status = status or 128 + signal.SIGPIPE
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print_error(HeapwrightError(f"the result could not be printed: {error.strerror}"))
        status = status or ExitCode.NOT_WRITTEN
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status

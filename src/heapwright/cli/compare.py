# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright compare`: run a command under each allocator and say what to do.

This file is the command line only. It reads and checks all options before the first run.
`commands.compare` does the work. docs/reference/compare.md is the manual page.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from heapwright import commands
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.paths import exists, is_folder
from heapwright.cli import options
from heapwright.cli.values import parse_margin, parse_size

NOTHING_NAMED = "there is nothing to compare allocators on: no command, and no --program"
NAME_ONE = "heapwright compare -- ./program its arguments, or heapwright compare --program NAME"
NAMED_BESIDE = "--command names the commands: there cannot be {} beside it"
CONTEXT = {"allow_interspersed_args": False}


app = options.application()


@app.command("compare", context_settings=CONTEXT)
def compare(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="The command and its arguments, after --."),
    ] = None,
    named: Annotated[
        list[str] | None,
        typer.Option(
            "--command",
            metavar="NAME=COMMAND",
            help="A command as a candidate, with a name; may be repeated. It is split into words "
            "like in a shell, but no shell runs it. With -a it is crossed with the allocators.",
        ),
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--parameter",
            metavar="NAME=VALUE,VALUE",
            help="Run commands that have {NAME} with each value; one answer for each level. May "
            "be repeated: the levels are crossed.",
        ),
    ] = None,
    program: options.ProgramName = None,
    scale: options.Scale = None,
    parameter: options.Parameter = None,
    allocators: options.Allocators = None,
    blocks: options.Blocks = None,
    until: options.Until = None,
    warmup: options.Warmup = 1,
    budget: options.Budget = None,
    timeout: options.Timeout = None,
    baseline: options.Baseline = "glibc",
    settings: options.Settings = None,
    margin: options.Margin = "2%",
    cap: options.Cap = None,
    pin: options.Pin = None,
    seed: options.OrderSeed = None,
    json_file: options.JsonFile = None,
    csv_file: options.CsvFile = None,
    quiet: options.SentenceAlone = False,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Count instructions and cache misses under valgrind instead of timing; twice "
            "each, or as often as -n says. Other programs on the machine do not change the counts.",
        ),
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Add the document to this folder, for `heapwright history FOLDER`.",
        ),
    ] = None,
    revision: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="The revision in that document. Default: what git describes here."
        ),
    ] = None,
    advice: options.Advice = False,
    cwd: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Run the command in this folder.")
    ] = None,
    stdin: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The standard input of the command. Default: /dev/null."),
    ] = None,
    prepare: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="Run this in a shell before each run. It is not measured."
        ),
    ] = None,
    shell: Annotated[
        bool, typer.Option("--shell", help="The command is one line for /bin/sh.")
    ] = False,
    expect_exit: Annotated[
        int, typer.Option(metavar="STATUS", min=0, max=255, help="The exit status of success.")
    ] = 0,
) -> None:
    """Run a command under each allocator in randomised blocks and name the one to use.

    Examples:
      heapwright compare -- ls -R /usr
      heapwright compare --budget 5 --program perl
      heapwright compare -a glibc,./libmine.so -n 20 -- ./server --selftest
    """
    asked = options.program_request(program, scale, parameter)
    if exact:
        _refuse_beside_exact({"--program": program, "--until": until, "--cap": cap})
        warmup = 1
    if asked is None and not command and not named:
        raise HeapwrightError(NOTHING_NAMED, NAME_ONE)
    if asked is not None:
        given = {
            "a command": command or named,
            "--parameter": parameters,
            "--cwd": cwd,
            "--stdin": stdin,
            "--prepare": prepare,
            "--shell": shell,
            "--expect-exit": expect_exit,
        }
        options.refuse_beside_program(given)
    if named and (command or shell):
        beside = "another command" if command else "--shell"
        raise HeapwrightError(
            NAMED_BESIDE.format(beside),
            "for a command line with shell syntax write --command NAME=\"sh -c '...'\"",
        )
    chosen = commands.compare.Options(
        command=tuple(command or ()),
        program=asked,
        exact=exact,
        store=store,
        revision=revision,
        allocators=tuple(allocators or ()),
        blocks=blocks,
        until=options.until_of(blocks, until),
        confidence=options.CONFIDENCE,
        warmup=warmup,
        budget_s=options.seconds_of(budget),
        timeout_s=timeout,
        baseline=baseline,
        settings=tuple(settings or ()),
        margin=parse_margin(margin),
        cap_bytes=None if cap is None else parse_size(cap),
        cpus=options.cpus_of(pin),
        seed=seed,
        json_file=json_file,
        csv_file=csv_file,
        quiet=quiet,
        cwd=_folder(cwd),
        stdin=None if stdin is None else _readable(stdin),
        prepare=prepare,
        shell=shell,
        expect_exit=expect_exit,
        named=tuple(named or ()),
        parameters=tuple(parameters or ()),
        advice=advice,
    )
    status = commands.compare.run_comparison(chosen)
    if status is not ExitCode.OK:
        raise typer.Exit(int(status))


def _refuse_beside_exact(given: Mapping[str, object]) -> None:
    """Options that need times or memory. Exact counts have neither."""
    for option, value in given.items():
        if value:
            raise HeapwrightError(
                f"--exact counts instructions of a command, and {option} does not go with it",
                "give one of them",
            )


def _folder(path: Path | None) -> Path:
    folder = (path or Path()).absolute()
    if not is_folder(folder):
        what = "is not a folder" if exists(folder) else "does not exist"
        raise HeapwrightError(f"--cwd {path} {what}")
    if not os.access(folder, os.X_OK):
        raise HeapwrightError(f"--cwd {path} cannot be entered")
    return folder


def _readable(path: Path) -> Path:
    if is_folder(path):
        raise HeapwrightError(f"--stdin {path} is a folder")
    try:
        with path.open("rb"):
            pass
    except OSError as error:
        raise HeapwrightError(f"--stdin {path} cannot be read: {error.strerror}") from error
    return path.absolute()

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verbs of `heapwright programs` that run no program: list, show, check, install, clean."""

import json
import os
import shlex
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from heapwright.artefacts.allocator.user_registry import user_home
from heapwright.artefacts.program.file import ProgramFile, read_program
from heapwright.artefacts.program.library import every_program, open_program
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.program_setup import open_asked
from heapwright.commands.text import printing
from heapwright.experiment.program.data import FOLDER, made_for, remove
from heapwright.experiment.program.needs import (
    as_root,
    command_to_install,
    has_packages,
    install,
    missing,
    missing_packages,
)
from heapwright.experiment.program.template_values import Binding, reaching_servers
from heapwright.report.console import make_console
from heapwright.report.programs import print_program, print_programs

WELL = "can be run here"
SERVICES = (
    "the distribution may start a server that it installs. Heapwright does not use that server; "
    "`systemctl disable --now NAME` ends it"
)


def list_programs(*, as_json: bool) -> None:
    """`heapwright programs list`."""
    environment = reaching_servers(os.environ)
    found = [(file, missing(file, environment)) for file in every_program()]
    with printing():
        if as_json:
            document = [
                {
                    "name": file.program.name,
                    "title": file.program.title,
                    "path": file.where,
                    "sha256": file.sha256,
                    "scales": list(file.program.scale),
                    "server": file.program.is_server,
                    "packages": list(file.program.packages),
                    "missing": lacks,
                }
                for file, lacks in found
            ]
            typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
            return
        rows = [(file.program, "; ".join(lacks) or WELL) for file, lacks in found]
        print_programs(make_console(), rows)


def show_program(asked: ProgramRequest) -> None:
    """`heapwright programs show`."""
    file = open_asked(asked)
    program = file.program
    words = program.measured
    lacks = missing(file, reaching_servers(os.environ))
    with printing():
        print_program(
            make_console(), program, file.where, Binding(file, None, None).words(words), lacks
        )


def check_programs(names: Sequence[str]) -> bool:
    """`heapwright programs check`: whether the files are correct and the programs can run here."""
    environment = reaching_servers(os.environ)
    files = list(_opened(names))
    for file in files:
        for scale in file.program.scale:
            read_program(file.where, scale)
    whole = True
    with printing():
        for file in files:
            lacks = missing(file, environment)
            whole = whole and not lacks
            typer.echo(f"{file.program.name}: {'; '.join(lacks) or WELL}")
            if lacks and file.program.packages:
                typer.echo(f"  packages: {' '.join(file.program.packages)}")
            for folder in made_for(file, user_home(os.environ)):
                typer.echo(f"  data: {folder} ({_room(folder)})")
    return whole


def install_programs(names: Sequence[str], *, everything: bool) -> None:
    """`heapwright programs install`. Raises HeapwrightError where it cannot be done."""
    files = _chosen(names, everything=everything)
    packages = list(dict.fromkeys(each for file in files for each in file.program.packages))
    if not has_packages():
        raise HeapwrightError(
            "this system has no apt-get, and no other way to install is known here",
            f"Debian calls what is needed: {' '.join(packages)}",
        )
    lacking = missing_packages(packages)
    if not lacking:
        typer.echo("nothing is missing: " + (" ".join(packages) or "no package is needed"))
        return
    root = as_root()
    command = shlex.join(command_to_install(lacking))
    if root is None:
        raise HeapwrightError(
            f"{' '.join(lacking)}: only root can install packages, and {without_root()}",
            f"sudo {command}",
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    typer.echo(f"as root: {command}")
    install(lacking, root)
    typer.echo(f"installed: {' '.join(lacking)}")
    typer.echo(SERVICES)


def without_root() -> str:
    """Why root rights are not available."""
    return "sudo needs a password" if shutil.which("sudo") else "there is no sudo"


def clean_programs(names: Sequence[str], *, everything: bool) -> None:
    """`heapwright programs clean`."""
    home = user_home(os.environ)
    for file in _chosen(names, everything=everything):
        for folder in made_for(file, home):
            room = _room(folder)
            remove(folder)
            typer.echo(f"removed {folder} ({room})")
    left = home / FOLDER
    if everything and left.is_dir() and not any(left.iterdir()):
        left.rmdir()


def _chosen(names: Sequence[str], *, everything: bool) -> list[ProgramFile]:
    if bool(names) == everything:
        raise HeapwrightError("name a program, or use --all", "`heapwright programs list`")
    return list(_opened(() if everything else names))


def _opened(names: Sequence[str]) -> Iterator[ProgramFile]:
    if names:
        yield from map(open_program, names)
    else:
        yield from every_program()


def _room(folder: Path) -> str:
    size = sum(each.lstat().st_blocks * 512 for each in folder.rglob("*"))
    return f"{size / 2**20:,.0f} MiB"

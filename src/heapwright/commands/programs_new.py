# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright programs new`: writes a first program file for the user's service."""

import sys
from dataclasses import dataclass
from pathlib import Path

import typer

from heapwright.artefacts.program.draft import (
    Draft,
    Wanted,
    from_image,
    from_unit,
    from_words,
    placed,
    program_text,
    split_words,
)
from heapwright.artefacts.program.file import read_program
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.text import printing


@dataclass(frozen=True, slots=True)
class New:
    """The command line, read."""

    name: str
    unit: Path | None
    image: Path | None
    server: str | None
    client: str
    port: int | None
    socket: str | None
    ready: str | None
    output: Path | None


def make_program(new: New) -> None:
    """Write the file. Raises HeapwrightError; an existing file is not overwritten."""
    wanted = Wanted(
        new.name,
        split_words(new.client),
        new.port,
        new.socket or "",
        () if new.ready is None else split_words(new.ready),
    )
    for option, words in (("server", new.server), ("client", new.client), ("ready", new.ready)):
        if words is not None and "{port}" in words:
            raise HeapwrightError(
                f"--{option} holds {{port}}: write the port itself, which --port then replaces",
                "heapwright programs new mine --server 'mine --listen 8080' --port 8080 …",
            )
    draft = _draft(new)
    text = program_text(draft, placed(wanted))
    if new.output == Path("-"):
        with printing():
            sys.stdout.write(text)
        return
    path = new.output or Path(f"{new.name}.toml")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise HeapwrightError(f"{path} is there", "name another one with -o") from error
    except OSError as error:
        raise HeapwrightError(
            f"{path} cannot be written: {error.strerror}", exit_code=ExitCode.NOT_WRITTEN
        ) from error
    read_program(path)  # read it as a user would name it
    for remark in draft.remarks:
        typer.echo(f"to be decided: {remark}", err=True)
    typer.echo(f"{path}: try it with: heapwright programs run ./{path}", err=True)


def _draft(new: New) -> Draft:
    given = [each for each in (new.unit, new.image, new.server) if each is not None]
    if len(given) != 1:
        raise HeapwrightError(
            "use exactly one of --unit, --image and --server to start the service",
            "heapwright programs new mine --unit /lib/systemd/system/mine.service …",
        )
    if new.unit is not None:
        return from_unit(_read(new.unit))
    if new.image is not None:
        return from_image(_read(new.image))
    return from_words(new.server or "")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise HeapwrightError(f"{path} cannot be read: {why}") from error

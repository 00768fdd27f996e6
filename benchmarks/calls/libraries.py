# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Common functions of the benchmarks of calls: allocators by name, a C program, the document."""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heapwright.artefacts.run.provenance import Allocator, read_environment
from heapwright.commands.setup import discovering
from heapwright.experiment.treatments import parse_requests

HERE = Path(__file__).parent
RIVALS = (
    "granary,glibc,glibc-no-tcache,jemalloc,tcmalloc,mimalloc,tbbmalloc,jemalloc-latest,"
    "tcmalloc-latest,mimalloc-latest,mimalloc2-latest,rpmalloc,snmalloc,hoard"
)


class FailedError(RuntimeError):
    """A program failed, for example under an allocator that cannot run it."""


def allocators(names: str) -> tuple[list[Allocator], list[Allocator]]:
    """Those of these names, or paths, that can be used here, and those that cannot."""
    with discovering(dict(os.environ)) as discovery:
        found = discovery.look_up(parse_requests([names], discovery.names))
    return [each for each in found if each.usable], [each for each in found if not each.usable]


def under(allocator: Allocator) -> dict[str, str]:
    """The environment in which a program has this allocator."""
    kept = {key: text for key, text in os.environ.items() if not key.startswith("LD_")}
    preload = {"LD_PRELOAD": allocator.path} if allocator.path else {}
    return {**kept, **allocator.environment, **preload}


def compiled(source: str, folder: Path, *words: str) -> Path:
    """A C program of this folder, as any C program is compiled here."""
    program = folder / Path(source).stem
    command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", *words]
    output(["env", *command, str(HERE / source), "-o", str(program)])
    return program


def output(command: Sequence[str], environment: Mapping[str, str] | None = None) -> bytes:
    """The output of a program. Raises FailedError, with its messages, if it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise FailedError(said[-1] if said else f"status {done.returncode}")
    return done.stdout


def parser(doc: str | None) -> argparse.ArgumentParser:
    """The options of both scripts."""
    made = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    made.add_argument("-a", dest="names", default=RIVALS, help="allocators, by name or path")
    made.add_argument("--json", type=Path, help="write the figures and the machine into this file")
    return made


def write(path: Path | None, figures: Any, used: Sequence[Allocator]) -> None:
    """Write the document: the counts, and the machine."""
    if path is not None:
        machine = read_environment(list(used), dict(os.environ))
        document = {"figures": figures, "environment": machine.model_dump(mode="json")}
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def say_left_out(left: Sequence[Allocator]) -> None:
    """Name the allocators that were left out, on standard error."""
    for each in left:
        say_failed(each, each.reason)


def say_failed(allocator: Allocator, why: object) -> None:
    """Report an allocator that failed, with the reason."""
    sys.stderr.write(f"{allocator.name} is left out: {why}\n")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """An aligned Markdown table."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    lines = [[cell.ljust(width) for cell, width in zip(heads, widths, strict=True)]]
    lines.append(["-" * width for width in widths])
    lines += [
        [
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        for row in rows
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

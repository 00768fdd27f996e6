# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The values of a program's templates, in a run or while its data is made."""

import os
import pwd
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from heapwright.artefacts.program.file import ProgramFile
from heapwright.artefacts.program.model import ProgramReady, Step
from heapwright.artefacts.study.factor import scalar_text
from heapwright.artefacts.study.template import TemplateError, fill
from heapwright.artefacts.workload.library import workload_path
from heapwright.base.errors import HeapwrightError
from heapwright.base.native import native_dir
from heapwright.experiment.server import LOCALHOST, Question

PORT = "port"
LONGEST_SOCKET = 107
"""Kernel limit of a socket's path, in bytes."""
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Folders of servers, which may be missing in PATH."""
POSTGRESQL = Path("/usr/lib/postgresql")
"""Debian's folders of PostgreSQL's programs, one for each version, which are not in PATH."""
STANDING = {"run": "{run}", "data": "{data}", PORT: "{port}", "folder": "{folder}"}
"""Placeholders that stay in a displayed command."""


class Binding:
    """Fills in the templates of a program file, for one run."""

    def __init__(self, file: ProgramFile, run: Path | None, data: Path | None) -> None:
        """Without a folder of the run, the placeholders of a run stay."""
        self._others: dict[str, str] = {
            name: scalar_text(value) for name, value in file.program.parameters.items()
        }
        own_port = self._others.pop(PORT, "0")
        self._own_port = own_port if own_port != "0" else None
        self._standing = run is None
        self._others |= {
            "python": sys.executable or "python3",
            "user": _user(),
            "cpus": str(len(os.sched_getaffinity(0))),
        }
        if run is None:
            self._others |= STANDING
        else:
            self._others |= {"run": str(run), "folder": str(file.folder)}
        if data is not None:
            self._others["data"] = str(data)

    @property
    def port(self) -> str:
        """The port of the run: one that is free at the first call."""
        if PORT not in self._others:
            self._others[PORT] = self._own_port or str(_free_port())
        return self._others[PORT]

    def vary(self, name: str, value: str) -> None:
        """Change the value of a parameter."""
        self._others[name] = value

    def text(self, template: str) -> str:
        """Raises HeapwrightError for an unbound name."""
        others: dict[str, str | Callable[[], str]] = {
            **self._others,
            PORT: lambda: self.port,
            "native": lambda: str(native_dir()),
        }
        try:
            return fill(template, {}, programs=lambda name: str(workload_path(name)), others=others)
        except TemplateError as error:
            raise HeapwrightError(str(error)) from error

    def words(self, templates: Sequence[str]) -> tuple[str, ...]:
        return tuple(map(self.text, templates))

    def step(self, step: Step) -> tuple[str, ...]:
        """The words of a step; a line is for the shell."""
        return ("/bin/sh", "-c", self.text(step)) if isinstance(step, str) else self.words(step)

    def question(self, ready: ProgramReady) -> Question:
        """The readiness question for a server. Raises HeapwrightError for one that can never be
        answered."""
        named = None if ready.socket is None else self.text(ready.socket)
        if named is not None and len(os.fsencode(named)) > LONGEST_SOCKET:
            raise HeapwrightError(
                f"the socket {named} has too long a path for the kernel",
                "set TMPDIR to a folder with a short name",
            )
        return Question(
            self.words(ready.command),
            None if ready.port is None else self._port_of(str(ready.port)),
            None if named is None else Path(named),
            None if ready.path is None else Path(self.text(ready.path)),
        )

    def _port_of(self, template: str) -> int:
        text = self.text(template)
        if not text.isdecimal() or not 0 < int(text) < 1 << 16:
            raise HeapwrightError(f"{text!r} is no port")
        return int(text)


def reaching_servers(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment, with the folders of servers at the end of its PATH."""
    path = environment.get("PATH", "/usr/bin:/bin").split(":")
    versions = sorted(map(str, POSTGRESQL.glob("*/bin")), reverse=True)
    path += [folder for folder in (*SYSTEM_FOLDERS, *versions) if folder not in path]
    return {**environment, "PATH": ":".join(path)}


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _free_port() -> int:
    with socket.socket() as asked:
        asked.bind((LOCALHOST, 0))
        number: int = asked.getsockname()[1]
        return number

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The lines that put an advised allocator to use, for each place.

There are five places: a command in a shell, a drop-in of a systemd service, a Dockerfile, a
Kubernetes container, and the linker's command line. An allocator of the C library itself needs only
its settings. Quoting follows the place:

- POSIX shell words;
- systemd.exec(5) with systemd.syntax(7), where a percent sign is doubled;
- ENV of a Dockerfile, where a dollar sign is escaped;
- YAML in the form of JSON strings, where Kubernetes doubles the dollar sign of $(NAME).

The runs were made in the user's own environment. Its variables for allocators are part of the
measurement, so the lines also set them.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import MappingProxyType

from heapwright.artefacts.comparison.document import TreatmentInfo

SYSTEM_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
"""Default folders of the linker and the loader, each also with one architecture folder below."""


PRELOAD = "LD_PRELOAD"
LIBRARY_PATH = "LD_LIBRARY_PATH"


@dataclass(frozen=True, slots=True)
class Invocation:
    """How the user runs the command."""

    command: tuple[str, ...]
    inherited: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Variables of the user's own environment that bear on the runs."""


NO_COMMAND = Invocation(())


def how_to_apply(treatment: TreatmentInfo, invocation: Invocation) -> tuple[str, ...]:
    """Lines that run the command, a service or a newly linked program under `treatment`."""
    settings = _settings(treatment, invocation.inherited)
    command = treatment.command or invocation.command
    if treatment.command and (not settings or not treatment.allocator):
        return (f"run: {shlex.join(command)}",)
    if not settings:
        return ("run the command without a preload and without allocator settings",)
    words = [f"{name}={shlex.quote(value)}" for name, value in settings.items()]
    lines = [
        f"shell: {' '.join(words)} {shlex.join(command)}",
        "service: systemctl edit NAME.service, then write",
        "  [Service]",
        f"  Environment={' '.join(_systemd(name, value) for name, value in settings.items())}",
        f"Dockerfile: ENV {' '.join(_docker(name, value) for name, value in settings.items())}",
        "Kubernetes: in the entry of the container",
        "  env:",
        *(line for name, value in settings.items() for line in _kubernetes(name, value)),
    ]
    if treatment.preload:
        line = f"link: {_link_flags(treatment.preload)}"
        if others := [name for name in settings if name != PRELOAD]:
            line += f" (and set {', '.join(others)} as above)"
        lines.append(line)
    return tuple(lines)


def _settings(treatment: TreatmentInfo, inherited: Mapping[str, str]) -> dict[str, str]:
    """The preload first, then the treatment's own variables, then those of the environment.

    A treatment's GLIBC_TUNABLES already hold the inherited ones. The loader finds the preloaded
    library by its path; LD_LIBRARY_PATH is kept only if that path came from one of its folders.
    """
    preloads = [treatment.preload, inherited.get(PRELOAD)]
    own = ":".join(text for text in preloads if text)
    settings = {PRELOAD: own} if own else {}
    settings |= treatment.environment
    for name, value in inherited.items():
        if name == LIBRARY_PATH:
            kept = _lies_in(treatment.preload, value)
        else:
            kept = not name.startswith("LD_")
        if kept:
            settings.setdefault(name, value)
    return settings


def _lies_in(library: str | None, search_path: str) -> bool:
    folders = [PurePosixPath(folder) for folder in search_path.split(":") if folder]
    return library is not None and PurePosixPath(library).parent in folders


def _systemd(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{name}={escaped}"'


def _docker(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'{name}="{escaped}"'


def _kubernetes(name: str, value: str) -> tuple[str, str]:
    text = json.dumps(value.replace("$(", "$$("), ensure_ascii=False)
    return f"  - name: {name}", f"    value: {text}"


def _link_flags(library: str) -> str:
    """Link the library itself, by its file's name, also where its development package is missing.

    The library stays linked although only malloc is used, and is found at run time.
    """
    path = PurePosixPath(library)
    folder = str(path.parent)
    known = folder in SYSTEM_FOLDERS or str(path.parent.parent) in SYSTEM_FOLDERS
    quoted = shlex.quote(folder)
    where = "" if known else f"-L{quoted} -Wl,-rpath,{quoted} "
    return f"{where}-Wl,--no-as-needed {shlex.quote(f'-l:{path.name}')}"

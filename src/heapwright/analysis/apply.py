# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How to put an advised allocator to use: the line to write, and where.

Three places: before a command in a shell, in a drop-in of a systemd service, on the linker's
command line. An allocator that is the C library's own needs its settings only. Quoting follows the
place: POSIX shell words; systemd.exec(5) with systemd.syntax(7), where a percent sign is doubled.
"""

import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from heapwright.artefacts.comparison.document import TreatmentInfo

SYSTEM_FOLDERS = ("/lib", "/lib64", "/usr/lib", "/usr/lib64")
"""Where the linker and the loader look by themselves; one folder of an architecture below, too."""


def how_to_apply(treatment: TreatmentInfo, command: Sequence[str]) -> tuple[str, ...]:
    """Lines that run `command`, a service or a newly linked program under `treatment`."""
    settings = dict(treatment.environment)
    if treatment.preload:
        settings = {"LD_PRELOAD": treatment.preload, **settings}
    if not settings:
        return ("run the command without a preload and without allocator settings",)
    words = [f"{name}={shlex.quote(value)}" for name, value in settings.items()]
    lines = [
        f"shell: {' '.join(words)} {shlex.join(command)}",
        "service: systemctl edit NAME.service, then write",
        "  [Service]",
        f"  Environment={' '.join(_systemd(name, value) for name, value in settings.items())}",
    ]
    if treatment.preload:
        line = f"link: {_link_flags(treatment.preload)}"
        if treatment.environment:
            line += f" (and set {', '.join(treatment.environment)} as above)"
        lines.append(line)
    return tuple(lines)


def _systemd(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{name}={escaped}"'


def _link_flags(library: str) -> str:
    """Link the library itself, by its file's name, also where its development package is missing.

    It is kept although nothing but malloc is taken from it, and found again at run time.
    """
    path = PurePosixPath(library)
    folder = str(path.parent)
    known = folder in SYSTEM_FOLDERS or str(path.parent.parent) in SYSTEM_FOLDERS
    quoted = shlex.quote(folder)
    where = "" if known else f"-L{quoted} -Wl,-rpath,{quoted} "
    return f"{where}-Wl,--no-as-needed {shlex.quote(f'-l:{path.name}')}"

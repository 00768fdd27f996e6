# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The missing requirements of a program, and their installation from the distribution."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from heapwright.artefacts.program.file import ProgramFile
from heapwright.artefacts.program.library import programs_folder
from heapwright.artefacts.study.installation import MODULE, lacking
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.program.template_values import Binding

INSTALLED = "installed"
QUIETLY = {"DEBIAN_FRONTEND": "noninteractive"}


def missing(file: ProgramFile, environment: Mapping[str, str]) -> list[str]:
    """Why the program cannot run here, with a sentence for each missing requirement."""
    binding = Binding(file, None, None)
    found = []
    for need in file.program.needs:
        text = need.replace("{folder}", str(file.folder))
        filled = binding.text(text) if "{" in text else text
        if os.sep in filled or filled.startswith(MODULE):
            found.append(lacking(filled, file.folder))
        elif shutil.which(filled, path=environment.get("PATH")) is None:
            found.append(f"there is no program {filled}")
    return [why for why in found if why]


def require(file: ProgramFile, environment: Mapping[str, str]) -> None:
    """Raises HeapwrightError with the missing requirements, and the command that installs them."""
    lacks = missing(file, environment)
    if not lacks:
        return
    packages = " ".join(file.program.packages)
    name = file.program.name
    hint = f"heapwright programs install {named(file)}" if packages else ""
    if packages:
        hint += f"   (packages: {packages})"
    raise HeapwrightError(f"{name} cannot be run here: {'; '.join(lacks)}", hint)


def named(file: ProgramFile) -> str:
    """Its name on a command line: the plain name only if it comes with heapwright."""
    shipped = file.folder == programs_folder().absolute()
    return file.program.name if shipped else shlex.quote(file.where)


def has_packages() -> bool:
    """Whether heapwright can query the packages of this distribution."""
    return shutil.which("dpkg-query") is not None and shutil.which("apt-get") is not None


def missing_packages(packages: Sequence[str]) -> list[str]:
    """Those that are not installed."""
    return [package for package in packages if not _is_installed(package)]


def _is_installed(package: str) -> bool:
    done = subprocess.run(
        ["dpkg-query", "-W", "-f=${db:Status-Status}", package],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode == 0 and done.stdout.strip() == INSTALLED


def as_root() -> tuple[str, ...] | None:
    """The prefix of a command that needs root; None: root rights are not available."""
    if os.geteuid() == 0:
        return ()
    if shutil.which("sudo") is not None:
        asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
        if asked.returncode == 0:
            return ("sudo", "-n", "env", *(f"{name}={text}" for name, text in QUIETLY.items()))
    return None


def command_to_install(packages: Sequence[str]) -> tuple[str, ...]:
    return ("apt-get", "install", "-y", "--no-install-recommends", *packages)


def install(packages: Sequence[str], root: tuple[str, ...]) -> None:
    """Install packages. Raises HeapwrightError with the message of the package manager."""
    words = (*root, *command_to_install(packages))
    done = _asked(words)
    if done.returncode != 0:
        _asked((*root, "apt-get", "update"))  # an old list names versions that no longer exist
        done = _asked(words)
    if done.returncode != 0:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
        raise HeapwrightError(
            f"the distribution does not give {' '.join(packages)}",
            "\n".join(f"| {line}" for line in lines[-6:]),
        )


def _asked(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**os.environ, **QUIETLY},
        cwd=Path("/"),
        check=False,
    )

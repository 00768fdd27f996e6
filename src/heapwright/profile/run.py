# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The profile of a trace: `heapwright-profile` makes one pass over it, this checks what it says.

The pass is a program of its own because a trace has up to billions of calls; what it prints is a
whole profile of a megabyte at most, which is checked here like anything else that is read.
"""

import subprocess
from pathlib import Path

from pydantic import ValidationError

from heapwright import __version__
from heapwright.artefacts import native
from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.profile import Profile
from heapwright.profile.symbols.naming import named

PROGRAM = "profile"


def profile_trace(path: Path, process: int | None = None) -> Profile:
    """The profile of a trace; of one process of it, if one is named.

    Raises HeapwrightError where the file is no trace, or not one of this version.
    """
    words = [str(native.program(PROGRAM))]
    if process is not None:
        words += ["--process", str(process)]
    done = subprocess.run([*words, str(path)], capture_output=True, check=False)
    if done.returncode != 0:
        raise HeapwrightError(f"{path} cannot be profiled: {_complaint(done)}")
    try:
        profile = Profile.from_json(done.stdout)
    except ValidationError as error:
        raise HeapwrightError(
            f"{native.program(PROGRAM)} is not of this version of heapwright: {error.errors()[0]}",
            "build and install again",
        ) from error
    origin = profile.provenance.model_copy(update={"trace": str(path)})
    return named(
        profile.model_copy(update={"heapwright_version": __version__, "provenance": origin})
    )


def _complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode < 0:
        return f"the program was ended by signal {-done.returncode}"
    return said.removeprefix(f"heapwright-{PROGRAM}: ") or f"exit status {done.returncode}"

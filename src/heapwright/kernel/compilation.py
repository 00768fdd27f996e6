# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a compilation in the guest needs: the compiler of this machine, sources, and their headers.

The sources are those of the guest's first process. The compiler names the headers that it reads.
They have the same places in the guest, so its paths hold there.
"""

import subprocess
from pathlib import Path

from heapwright.base.errors import HeapwrightError
from heapwright.kernel.archive import Entry, regular
from heapwright.kernel.folders import guest_sources
from heapwright.kernel.libraries import find_program

PLACE = "src"
PACKAGES = "gcc libc6-dev"
FLAGS = ("-O1", "-std=gnu11", "-D_GNU_SOURCE")
"""As native/guest/compile.c has them: they decide which headers are read."""


def compiler_programs() -> list[tuple[Path, str]]:
    """The driver, the compiler proper, the assembler and the linker, with their places. Raises
    HeapwrightError for one that is missing."""
    driver = _driver()
    proper = Path(_answer(driver, "-print-prog-name=cc1").strip())
    if not proper.is_absolute():
        raise HeapwrightError(f"{driver} has no compiler proper", f"apt-get install {PACKAGES}")
    tools = [(find_program(name, "binutils"), f"usr/bin/{name}") for name in ("as", "ld")]
    return [(driver, "usr/bin/gcc"), (proper, str(proper).lstrip("/")), *tools]


def _driver() -> Path:
    """The compiler itself. Another one of this name in PATH may be a link to a compiler cache."""
    own = Path("/usr/bin/gcc")
    return own if own.is_file() else find_program("gcc", PACKAGES)


def compiled_sources() -> dict[str, Entry]:
    """The sources, and every header that they include. Raises HeapwrightError."""
    sources = sorted(guest_sources().glob("*.c"))
    driver = _driver()
    rules = _answer(driver, "-M", *FLAGS, *map(str, sources))
    headers = {word for word in rules.replace("\\\n", " ").split() if word.endswith(".h")}
    own = {path for path in guest_sources().iterdir() if path.suffix in {".c", ".h"}}
    entries = {f"{PLACE}/{path.name}": regular(path.read_bytes(), 0o644) for path in own}
    for name in sorted(headers):
        path = Path(name)
        if path.is_absolute() and path not in own:
            entries[name.lstrip("/")] = regular(path.read_bytes(), 0o644)
    return entries


def _answer(driver: Path, *words: str) -> str:
    done = subprocess.run([driver, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["it gave no reason"])[0]
        raise HeapwrightError(f"{driver} failed: {why}", f"apt-get install {PACKAGES}")
    return done.stdout

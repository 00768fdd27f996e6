# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The guest can compile: it gets a compiler, sources, and every header that these include."""

import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.kernel import compilation
from heapwright.kernel.compilation import FLAGS, compiled_sources, compiler_programs
from heapwright.kernel.folders import guest_sources

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc (package gcc)")


def test_the_sources_compile_with_the_headers_that_are_put_into_the_guest(tmp_path: Path) -> None:
    for name, entry in compiled_sources().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(entry.data)
    sources = sorted((tmp_path / "src").glob("*.c"))
    assert len(sources) == len(list(guest_sources().glob("*.c")))
    # With --sysroot the compiler reads no header of this machine but its own.
    command = ["gcc", f"--sysroot={tmp_path}", *FLAGS, "-fsyntax-only", *map(str, sources)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "usr" / "include" / "stdio.h").unlink()
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_the_guest_compiles_with_the_flags_that_its_headers_were_found_with() -> None:
    source = (guest_sources() / "compile.c").read_text("utf-8")
    assert all(f'"{flag}"' in source for flag in FLAGS)


def test_every_program_of_a_compilation_is_put_where_the_driver_looks() -> None:
    places = {place for _, place in compiler_programs()}
    assert {"usr/bin/gcc", "usr/bin/as", "usr/bin/ld"} < places
    (proper,) = [place for place in places if place.endswith("/cc1")]
    assert all(path.is_file() for path, _ in compiler_programs())
    assert (Path("/") / proper).is_file()


def test_a_compiler_that_fails_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    compiler = tmp_path / "gcc"
    compiler.write_text("#!/bin/sh\necho no such target >&2\nexit 1\n", encoding="utf-8")
    compiler.chmod(0o755)
    monkeypatch.setattr(compilation, "_driver", lambda: compiler)
    with pytest.raises(HeapwrightError, match="failed: no such target"):
        compiled_sources()

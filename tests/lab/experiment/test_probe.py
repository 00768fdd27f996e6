# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the loader says, and what a tiny program says, with any kind of library put under it."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.probe import Prober

REPORT = (
    '{"malloc":"/x.so","provider_is_libc":false,"consistent":true,"works":true,'
    '"glibc_version":"2.36","tcache":null,"allocator_version":null,"description":null}'
)


@pytest.fixture
def paths() -> Iterator[PreloadPaths]:
    with PreloadPaths() as paths:
        yield paths


def prober(paths: PreloadPaths, program: str | Path = "/bin/true", **settings: str) -> Prober:
    environment = {"PATH": os.environ["PATH"], **settings}
    return Prober(Path(program), paths, environment, limit_s=5)


def script(folder: Path, text: str) -> Path:
    path = folder / "program"
    path.write_text(f"#!{sys.executable} -SEs\n{text}\n")
    path.chmod(0o755)
    return path


def compiled(path: Path, text: str, *flags: str) -> Path:
    return linked(path, text, "-shared", "-fPIC", *flags)


def linked(path: Path, text: str, *flags: str) -> Path:
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed (package gcc)")
    source = path.with_suffix(".c")
    source.write_text(text)
    command = ["cc", "-O0", "-fno-builtin", source, "-o", path, *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"{flags} does not work here: {done.stderr[-200:]}")
    return path


def test_the_loader_resolves_a_soname(paths: PreloadPaths) -> None:
    resolved = prober(paths).resolve("libc.so.6")
    assert resolved.path is not None
    assert resolved.path.name == "libc.so.6"
    assert resolved.path.is_file()


def test_the_loader_follows_its_own_variables(paths: PreloadPaths, tmp_path: Path) -> None:
    library = compiled(tmp_path / "libhere.so", "int x;")
    assert prober(paths).resolve("libhere.so").path is None
    found = prober(paths, LD_LIBRARY_PATH=str(tmp_path)).resolve("libhere.so")
    assert found.path == library


def test_a_soname_that_is_not_there_is_refused_in_its_words(paths: PreloadPaths) -> None:
    resolved = prober(paths).resolve("libno-such.so.7")
    assert resolved.path is None
    assert resolved.words == "cannot be preloaded (cannot open shared object file)"


def test_a_library_that_does_not_load_is_refused_in_the_loaders_words(
    paths: PreloadPaths, tmp_path: Path
) -> None:
    (tmp_path / "short.so").write_text("no library")
    (tmp_path / "long.so").write_text("no library " * 100)
    undefined = "int nowhere(void); __attribute__((constructor)) void f(void) { nowhere(); }"
    compiled(tmp_path / "undefined.so", undefined)
    compiled(tmp_path / "libneeded.so", "int x;")
    link = ("-L", str(tmp_path), "-Wl,--no-as-needed", "-lneeded")
    compiled(tmp_path / "needs.so", "int y;", *link)
    (tmp_path / "libneeded.so").unlink()
    probe = prober(paths)
    for name, words in (
        ("short.so", "cannot be preloaded (file too short)"),
        ("long.so", "cannot be preloaded (invalid ELF header)"),
        ("none.so", "cannot be preloaded (cannot open shared object file)"),
        ("undefined.so", "undefined symbol: nowhere"),
        ("needs.so", "error while loading shared libraries: libneeded.so: cannot open"),
    ):
        assert words in probe.run(tmp_path / name).words, name


def test_another_machine_is_refused_in_the_loaders_words(
    paths: PreloadPaths, tmp_path: Path
) -> None:
    library = compiled(tmp_path / "small.so", "int x;", "-m32")
    assert prober(paths).run(library).words == "cannot be preloaded (wrong ELF class: ELFCLASS32)"


def test_loader_errors_of_another_library_are_ignored(paths: PreloadPaths, tmp_path: Path) -> None:
    library = compiled(tmp_path / "fine.so", "int x;")
    probe = prober(paths, LD_PRELOAD="/nowhere/other.so").run(library)
    assert probe.words == ""


def test_a_report_is_read_even_behind_other_lines(paths: PreloadPaths, tmp_path: Path) -> None:
    program = script(tmp_path, f"print('a library says hello')\nprint('''{REPORT}''')")
    report = prober(paths, program).run(None).report
    assert report is not None
    assert report.malloc == "/x.so"
    assert report.described == {}


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("import os; os.abort()", "is killed by SIGABRT"),
        ("import sys; sys.exit('no luck')", "exits with status 1: no luck"),
        ("print('{}')", "says nothing that can be read"),
    ],
)
def test_how_the_program_ended(paths: PreloadPaths, tmp_path: Path, text: str, ending: str) -> None:
    probe = prober(paths, script(tmp_path, text)).run(None)
    assert probe.report is None
    assert probe.ending == ending


def test_a_program_that_hangs_is_ended_with_its_children(
    paths: PreloadPaths, tmp_path: Path
) -> None:
    text = (
        "import os, time\n"
        f"if os.fork() == 0: open({str(tmp_path / 'child')!r}, 'w').write(str(os.getpid()))\n"
        "time.sleep(600)"
    )
    probe = Prober(script(tmp_path, text), paths, {}, limit_s=6).run(None)
    assert probe.ending == "does not end within 6 s"
    child = (tmp_path / "child").read_text()
    end = time.monotonic() + 60
    while lives(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not lives(child)


def lives(pid: str) -> bool:
    """Whether a process exists and not merely waits for the report of its end."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def test_the_program_sees_the_preload_and_the_merged_settings(
    paths: PreloadPaths, tmp_path: Path
) -> None:
    library = compiled(tmp_path / "fine.so", "int x;")
    own = compiled(tmp_path / "own.so", "int z;")
    seen = tmp_path / "seen"
    text = (
        "import os\n"
        f"with open({str(seen)!r}, 'w') as file:\n"
        "    for name in ('LD_PRELOAD', 'GLIBC_TUNABLES'): print(os.environ[name], file=file)"
    )
    probe = prober(paths, script(tmp_path, text), LD_PRELOAD=str(own), GLIBC_TUNABLES="a=1:b=2")
    probe.run(library, {"GLIBC_TUNABLES": "b=3"})
    assert seen.read_text().split() == [f"{library}:{own}", "a=1:b=3"]


OWN_MALLOC = """
#include <stddef.h>
void *malloc(size_t n) { (void)n; return 0; }
void *calloc(size_t n, size_t s) { return malloc(n * s); }
void *realloc(void *p, size_t n) { (void)p; return malloc(n); }
void free(void *p) { (void)p; }
"""
MAIN = "#include <stdlib.h>\nint main(void) { free(malloc(5)); return 0; }"
ADDRESS = (
    "#include <stdlib.h>\nint main(void) { void *(*volatile f)(size_t) = malloc; free(f(5)); }"
)
"""Compiled for a fixed address, it has an entry for malloc, which all libraries are bound to."""


def bound(
    paths: PreloadPaths, program: Path, library: Path | None, **settings: str
) -> tuple[str, ...]:
    found = prober(paths, program, **settings).bindings(library)
    assert found.words == ""
    return found.providers


def test_the_loader_reports_who_serves_a_program(paths: PreloadPaths, tmp_path: Path) -> None:
    mine = compiled(tmp_path / "mine.so", OWN_MALLOC)
    marked = tmp_path / "it-ran"
    runs = f"int main(void) {{ return creat({str(marked)!r}, 0600); }}".replace("'", '"')
    for name, text, flags in (
        ("plain", MAIN, ()),
        ("fixed", ADDRESS, ("-no-pie", "-fno-pie")),
        ("silent", f"#include <fcntl.h>\n{runs}", ()),
    ):
        program = linked(tmp_path / name, text, *flags)
        assert bound(paths, program, mine) == (str(mine),), name
        alone = bound(paths, program, None)
        assert [Path(each).name for each in alone] == ["libc.so.6"], name
    assert not marked.exists(), "the program was run"


def test_a_malloc_of_the_program_comes_first(paths: PreloadPaths, tmp_path: Path) -> None:
    mine = compiled(tmp_path / "mine.so", OWN_MALLOC)
    program = linked(tmp_path / "own", OWN_MALLOC + "int main(void) { return 0; }")
    assert bound(paths, program, mine) == (str(program),)


def test_a_private_malloc_of_a_library_is_its_own_affair(
    paths: PreloadPaths, tmp_path: Path
) -> None:
    mine = compiled(tmp_path / "mine.so", OWN_MALLOC)
    private = f"{OWN_MALLOC}void *use(void) {{ return malloc(3); }}"
    compiled(tmp_path / "libprivate.so", private, "-Wl,-Bsymbolic")
    flags = (f"-L{tmp_path}", "-Wl,--no-as-needed", "-lprivate", f"-Wl,-rpath,{tmp_path}")
    program = linked(tmp_path / "program", MAIN, *flags)
    assert bound(paths, program, mine) == (str(mine),)


def test_a_preload_that_the_loader_refuses_in_a_program(
    paths: PreloadPaths, tmp_path: Path
) -> None:
    (tmp_path / "short.so").write_text("no library")
    found = prober(paths, linked(tmp_path / "program", MAIN)).bindings(tmp_path / "short.so")
    assert found.words == "cannot be preloaded (file too short)"
    assert [Path(each).name for each in found.providers] == ["libc.so.6"]


def test_a_report_of_the_loader_to_a_file_is_not_asked_for(
    paths: PreloadPaths, tmp_path: Path
) -> None:
    program = linked(tmp_path / "program", MAIN)
    assert bound(paths, program, None, LD_DEBUG_OUTPUT=str(tmp_path / "out"))
    assert not list(tmp_path.glob("out*"))


def test_a_loader_that_hangs_is_ended(paths: PreloadPaths, tmp_path: Path) -> None:
    text = "#include <unistd.h>\nint main(void) { pause(); return 0; }"
    program = linked(tmp_path / "static", text, "-static")  # it runs: it has no loader that ends it
    found = Prober(program, paths, {}, limit_s=0.2).bindings(None)
    assert found.words == "the loader does not end within 0.2 s"

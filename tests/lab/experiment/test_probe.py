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
    if shutil.which("cc") is None:
        pytest.skip("cc is not installed (package gcc)")
    source = path.with_suffix(".c")
    source.write_text(text)
    command = ["cc", "-shared", "-fPIC", source, "-o", path, *flags]
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

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""granary in static programs, with musl, and on aarch64: compiled, linked and run.

Debian has no C++ library for musl. The headers and granary need only the headers of one, and
packaging/musl/ replaces the few that describe the GNU C library.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.compiles

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "ports"
PACKAGING = ROOT / "packaging" / "musl"
MUSL = Path("/usr/lib/x86_64-linux-musl/musl-gcc.specs")
VERSION = "0.0.0"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
OPTIONS = [
    *("-std=c++20", "-O1", "-fPIC", "-fvisibility=hidden", "-fvisibility-inlines-hidden"),
    *("-ftls-model=initial-exec", "-fno-rtti", "-funwind-tables", "-fsemantic-interposition"),
    *(f"-fno-builtin-{name}" for name in ("malloc", "calloc", "realloc", "free", "memalign")),
    *(f"-fno-builtin-{name}" for name in ("aligned_alloc", "posix_memalign")),
]


@dataclass(frozen=True)
class Port:
    """A C library and a processor: compilers, their options, and how a program is started."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    archiver: str = "ar"
    start: tuple[str, ...] = ()
    has_cxx_library: bool = True


def tool(name: str, package: str) -> str:
    beside = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return shutil.which(name, path=beside) or pytest.skip(f"no {name} here (package {package})")


def run(*command: str | Path, env: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=env, timeout=300
    )
    text = f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    assert done.returncode == 0, text[-4000:]
    return done.stdout


def musl_headers(folder: Path) -> Path:
    """The kernel's headers, which musl does not bring, without those of the GNU C library."""
    folder.mkdir(exist_ok=True)
    kernel = Path("/usr/include")
    for name, target in {
        "linux": kernel / "linux",
        "asm-generic": kernel / "asm-generic",
        "asm": kernel / "x86_64-linux-gnu" / "asm",
    }.items():
        (folder / name).symlink_to(target)
    return folder


@pytest.fixture(scope="module", params=["glibc", "musl", "aarch64"])
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Port:
    if request.param == "glibc":
        return Port((tool("gcc", "gcc"),), (tool("g++", "g++"),))
    if request.param == "aarch64":
        return Port(
            (tool("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),),
            (tool("aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu"),),
            tool("aarch64-linux-gnu-ar", "binutils-aarch64-linux-gnu"),
            (tool("qemu-aarch64", "qemu-user"), "-L", "/usr/aarch64-linux-gnu"),
        )
    if not MUSL.exists():
        pytest.skip("no musl here (package musl-tools)")
    gcc = tool("g++", "g++")
    version = run(gcc, "-dumpversion").strip()
    system = [
        PACKAGING / "include",
        musl_headers(tmp_path_factory.mktemp("headers") / "kernel"),
        f"/usr/include/c++/{version}",
        f"/usr/include/x86_64-linux-gnu/c++/{version}",
    ]
    include = [part for folder in system for part in ("-isystem", str(folder))]
    return Port(
        (tool("musl-gcc", "musl-tools"),),
        (gcc, "-specs", str(MUSL), "-nostdinc++", *include),
        has_cxx_library=False,
    )


@pytest.fixture(scope="module")
def members(port: Port, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The object files of granary's archive, and of its shared library, by template."""
    folder = tmp_path_factory.mktemp("archive")
    catalogue = tomllib.loads((ROOT / "catalogue" / "allocators.toml").read_text("utf-8"))
    (entry,) = (each for each in catalogue["composed"] if each["name"] == "granary")
    lines = [f"#include <preload/entry_points/{name}.inc>" for name in entry["entry_points"]]
    values = {
        **{key: entry[key] for key in ("name", "header", "type")},
        "entry_points": "\n".join(lines),
        "PROJECT_VERSION": VERSION,
    }
    made = {}
    shared = ("library",) if port.has_cxx_library else ()  # musl's is built with its own options
    for path in ("static/c", "static/cxx", *shared):
        template = ROOT / "native" / "preload" / f"{path}.cpp.in"
        name = template.name.removesuffix(".cpp.in")
        text = template.read_text(encoding="utf-8")
        for key, value in values.items():
            text = text.replace(f"@{key}@", value)
        source = folder / f"{name}.cpp"
        source.write_text(text, encoding="utf-8")
        made[name] = folder / f"{name}.o"
        exceptions = "-fexceptions" if name == "cxx" else "-fno-exceptions"
        include = [f"-I{ROOT / 'include'}", f"-I{ROOT / 'native'}"]
        command = [*port.cxx, *OPTIONS, *WARNINGS, exceptions, *include, "-c", str(source)]
        run(*command, "-o", made[name])
    return made


@pytest.fixture(scope="module")
def archive(port: Port, members: dict[str, Path]) -> Path:
    made = members["c"].parent / "libgranary.a"
    run(port.archiver, "rcs", made, members["c"], members["cxx"])
    return made


def test_a_static_c_program_runs_on_granary(port: Port, archive: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    options = ["-std=gnu11", "-O1", f"-I{ROOT / 'include'}", "-static", "-pthread"]
    source = PROGRAMS / "threads.c"
    run(*port.c, *options, source, "-Wl,--undefined=malloc", archive, "-o", program)
    apart = ["apart"] if port.start else []
    assert run(*port.start, program, *apart) == "granary\n"
    assert "_int_malloc" not in run(tool("nm", "binutils"), program)


def test_a_static_cxx_program_runs_on_granary(port: Port, archive: Path, tmp_path: Path) -> None:
    if not port.has_cxx_library:
        return  # checked with the C program only
    program = tmp_path / "program"
    options = ["-std=c++17", "-O1", f"-I{ROOT / 'include'}", "-static", "-pthread"]
    run(*port.cxx, *options, PROGRAMS / "cxx.cpp", archive, "-o", program)
    assert run(*port.start, program) == "granary\n"


def test_every_header_compiles(port: Port, tmp_path: Path) -> None:
    include = ROOT / "include"
    # drag.h and apr.h belong to libraries that exist for the GNU C library only.
    headers = sorted(path.relative_to(include) for path in include.rglob("*.hpp"))
    source = tmp_path / "all.cpp"
    source.write_text("".join(f"#include <{header}>\n" for header in headers), encoding="utf-8")
    run(*port.cxx, "-std=c++20", *WARNINGS, "-fsyntax-only", f"-I{include}", source)


def test_system_calls_exist_on_aarch64(tmp_path: Path) -> None:
    """Its kernel has no old forms, such as readlink. `attach` is a program for x86-64 only."""
    gcc = tool("aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu")
    attach = ROOT / "native" / "attach"
    sources = [path for path in (ROOT / "native").rglob("*.[ch]pp") if attach not in path.parents]
    calls = {call for path in sources for call in re.findall(r"\bSYS_\w+", path.read_text("utf-8"))}
    assert "SYS_readlinkat" in calls
    source = tmp_path / "calls.cpp"
    uses = "".join(f"static_assert({call} >= 0);\n" for call in sorted(calls))
    source.write_text(f"#include <sys/syscall.h>\n{uses}", encoding="utf-8")
    run(gcc, "-fsyntax-only", source)


def test_musl_programs_run_on_the_preloaded_library(port: Port, tmp_path: Path) -> None:
    """In a root folder that has musl and no other library, like an image of Alpine."""
    if port.c[0] != shutil.which("musl-gcc"):
        return  # the other suites preload the library with the GNU C library
    cmake, build, root = tool("cmake", "cmake"), tmp_path / "build", tmp_path / "root"
    given = ("-S", ROOT, "-B", build, "--toolchain", PACKAGING / "toolchain.cmake")
    options = ("-DCMAKE_BUILD_TYPE=Release", f"-DPython3_EXECUTABLE={sys.executable}")
    ninja = f"-DCMAKE_MAKE_PROGRAM={tool('ninja', 'ninja-build')}"
    run(cmake, *given, "-G", "Ninja", ninja, *options)
    run(cmake, "--build", build, "--target", "heapwright-granary")
    (root / "lib").mkdir(parents=True)
    shutil.copy("/lib/ld-musl-x86_64.so.1", root / "lib")
    shutil.copy(build / "native" / "preload" / "libheapwright-granary.so", root)
    c_options = ["-std=gnu11", "-O1", f"-I{ROOT / 'include'}", "-pthread"]
    run(*port.c, *c_options, PROGRAMS / "threads.c", "-o", root / "program")
    enter = (tool("unshare", "util-linux"), "--map-root-user", "chroot", root)
    # The loader of unshare and chroot ignores a library that this root folder does not have.
    preload = {"PATH": os.environ["PATH"], "LD_PRELOAD": "/libheapwright-granary.so"}
    assert run(*enter, "/program", env=preload) == "granary\n"

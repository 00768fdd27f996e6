# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The Rust crate: its package has all sources, its own tests pass, and the page's program runs.

The tests use the distribution's copy of the crate cc, so cargo needs no network. The crate is
packaged and unpacked into the project of the page. cargo then compiles the C++ sources once for
both.
"""

import os
import shutil
import sys
import tarfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from heapwright import __version__
from support.blocks import blocks_of
from support.running import ran

ROOT = Path(__file__).parents[3]
CRATE = ROOT / "native" / "rust"
PAGE = ROOT / "docs" / "how-to" / "use-from-rust.md"
REGISTRY = Path("/usr/share/cargo/registry")
CONFIGURATION = f"""\
[source.crates-io]
replace-with = "distribution"
[source.distribution]
directory = "{REGISTRY}"
[net]
offline = true
"""
# The crate is a member of the program's workspace, whose profile is that of the crate's own tests.
WORKSPACE = "\n[workspace]\n\n[profile.dev]\nopt-level = 1\n"
NATIVE_TARGET = f"{os.uname().machine}-unknown-linux-gnu"

pytestmark = [
    pytest.mark.compiles,
    pytest.mark.skipif(not shutil.which("cargo"), reason="no cargo (package cargo)"),
    pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler (package g++)"),
    pytest.mark.skipif(
        not any(REGISTRY.glob("cc-*")), reason="no sources of cc (package librust-cc-dev)"
    ),
]


@dataclass(frozen=True)
class Project:
    """The program of the page beside the unpacked crate, and cargo in its folder."""

    folder: Path
    crate: Path
    cargo: Callable[..., str]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    home, tree, folder = (tmp_path / name for name in ("home", "tree", "program"))
    home.mkdir()
    (home / "config.toml").write_text(CONFIGURATION, encoding="utf-8")

    def cargo(*words: str, cwd: Path = folder, **variables: str) -> str:
        own = {"CARGO_HOME": str(home), "CARGO_TARGET_DIR": str(tmp_path / "target")}
        environment = os.environ | own | variables
        environment.pop("HEAPWRIGHT_GRANARY", None)
        done = ran(["cargo", *words], cwd=cwd, env=environment)
        assert done.returncode == 0, f"cargo {' '.join(words)}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    # A copy with its links, because cargo writes a lock file beside the manifest.
    for name in ("include", "native"):
        skipped = shutil.ignore_patterns("target", "Cargo.lock")
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=skipped)
    shutil.copy(ROOT / "LICENSE", tree)
    cargo("package", "--no-verify", "--allow-dirty", cwd=tree / "native" / "rust")
    (packed,) = (tmp_path / "target" / "package").glob("*.crate")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    shutil.rmtree(tree)

    files = {block.tags["file"]: block.code for block in blocks_of(PAGE) if "file" in block.tags}
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(files["Cargo.toml"] + WORKSPACE, encoding="utf-8")
    (folder / "src" / "main.rs").write_text(files["main.rs"], encoding="utf-8")
    crate = folder / "heapwright" / "native" / "rust"
    crate.parent.mkdir(parents=True)
    (tmp_path / f"heapwright-{__version__}").rename(crate)
    return Project(folder, crate, cargo)


def own_tests(project: Project, *words: str, **variables: str) -> int:
    """Runs the crate's own tests. Returns the number of those that passed."""
    printed = project.cargo("test", "-p", "heapwright", *words, **variables)
    results = [line for line in printed.splitlines() if line.startswith("test result: ")]
    assert all(" 0 failed; 0 ignored;" in line for line in results)
    return sum(int(line.split()[3]) for line in results)


def test_the_crate_has_the_version_of_the_project() -> None:
    manifest = tomllib.loads((CRATE / "Cargo.toml").read_text(encoding="utf-8"))
    assert manifest["package"]["version"] == __version__


def test_the_sources_are_formatted() -> None:
    if not shutil.which("rustfmt"):
        pytest.skip("no rustfmt (package rustfmt)")
    files = [*CRATE.glob("src/*.rs"), *CRATE.glob("tests/*.rs"), CRATE / "build.rs"]
    done = ran(["rustfmt", "--check", "--edition", "2021", *files])
    assert done.returncode == 0, done.stdout


@pytest.mark.long
def test_the_packaged_crate_is_complete_and_works(project: Project) -> None:
    """One test, so that two workers do not compile the same sources twice."""
    assert not [each for each in project.crate.rglob("*") if each.is_symlink()]
    assert own_tests(project) >= 38
    (expected,) = (block.code for block in blocks_of(PAGE) if block.language == "text")
    assert project.cargo("run") == expected
    if not shutil.which("cargo-clippy"):
        pytest.skip("no clippy (package rust-clippy)")
    project.cargo("clippy", "-p", "heapwright", "--all-targets", "--", "-D", "warnings")


@pytest.mark.slow
def test_malloc_is_granary_with_the_feature(project: Project) -> None:
    assert own_tests(project, "--features", "replace-malloc") >= 38


@pytest.mark.slow
def test_malloc_is_granary_in_a_static_program(project: Project) -> None:
    words = ("--features", "replace-malloc", "--test", "global_allocator")
    flags = {"RUSTFLAGS": "-C target-feature=+crt-static"}
    assert own_tests(project, *words, "--target", NATIVE_TARGET, **flags) >= 10


PLUGIN = """
use heapwright::{granary, Granary};

#[global_allocator]
static GRANARY: Granary = Granary;

/// Leaves the thread a cache of granary, and no destructor of Rust.
#[no_mangle]
pub extern "C" fn touch() -> bool {
    granary::owns(&*Box::new(1))
}

#[no_mangle]
pub extern "C" fn work() -> bool {
    let threads: Vec<_> = (0..8_usize)
        .map(|n| std::thread::spawn(move || vec![n; 1000]))
        .collect();
    let all: Vec<_> = threads.into_iter().map(|each| each.join().unwrap()).collect();
    all.iter().enumerate().all(|(n, each)| *each == vec![n; 1000] && granary::owns(each.as_ptr()))
}
"""
HOST = """
import _ctypes, ctypes, sys, threading

library = ctypes.CDLL(sys.argv[1])
function = getattr(library, sys.argv[2])
function.restype = ctypes.c_bool
used, closed = threading.Event(), threading.Event()

def run():
    assert function()
    used.set()
    closed.wait()

thread = threading.Thread(target=run)
thread.start()
used.wait()
_ctypes.dlclose(library._handle)
closed.set()
thread.join()  # its end calls the library
print("done")
"""


@pytest.mark.slow
def test_a_library_that_is_opened_late_and_closed_early_works(project: Project) -> None:
    manifest = project.folder / "Cargo.toml"
    text = manifest.read_text(encoding="utf-8").replace(" }\n", ', features = ["plugin"] }\n')
    manifest.write_text(text + '\n[lib]\ncrate-type = ["cdylib"]\n', encoding="utf-8")
    (project.folder / "src" / "main.rs").unlink()
    (project.folder / "src" / "lib.rs").write_text(PLUGIN, encoding="utf-8")
    project.cargo("build")
    (library,) = project.folder.parent.glob("target/debug/libprogram.so")
    for function in ("touch", "work"):
        done = ran([sys.executable, "-c", HOST, library, function])
        assert (done.returncode, done.stdout) == (0, "done\n"), f"{function}: {done.stderr}"

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The recipes of packaging/: what they describe is what the project builds and installs.

Conan runs. Homebrew, vcpkg and nixpkgs do not: the functions that the recipes call are replaced.
"""

import json
import os
import re
import shutil
from pathlib import Path, PurePosixPath

import pytest

from heapwright import __version__

from .conftest import CONSUMER, ROOT, configure, consume, run, tool

PACKAGING = ROOT / "packaging"
PORT = PACKAGING / "vcpkg" / "heapwright"
HERE = Path(__file__).parent

DEBIAN = PACKAGING / "debian"

# The functions of nixpkgs that the package uses, for an evaluation without nixpkgs.
NIX = """
let
  lib = {
    splitString = at: text: builtins.filter builtins.isString (builtins.split at text);
    findFirst = holds: none: list: builtins.head (builtins.filter holds list ++ [ none ]);
    fileset = { toSource = source: source.fileset; unions = map toString; };
    licenses.asl20 = "Apache-2.0";
  };
  package = import %s/packaging/nix/package.nix {
    inherit lib;
    stdenv.mkDerivation = each: each;
    cmake = "cmake";
    ninja = "ninja";
  };
in package
"""


def sources_of_conan() -> set[str]:
    """The files and folders that the recipe copies."""
    text = (PACKAGING / "conan" / "conanfile.py").read_text(encoding="utf-8")
    patterns = text.partition("SOURCES = (")[2].partition(")")[0]
    return {each.removesuffix("/*") for each in re.findall('"(.*?)"', patterns)}


@pytest.mark.slow
def test_conan_creates_the_package_and_a_consumer(tmp_path: Path) -> None:
    conan = tool("conan")
    # Conan builds inside the folder of the consumer, and runs its cmake by name.
    consumer = shutil.copytree(CONSUMER, tmp_path / "consumer")
    beside = os.pathsep.join([str(Path(tool("cmake")).parent), os.environ["PATH"]])
    env = {"CONAN_HOME": str(tmp_path / "home"), "PATH": beside}
    run(conan, "profile", "detect", env=env)
    recipe = PACKAGING / "conan"
    run(conan, "create", recipe, "--test-folder", consumer, "--no-remote", env=env)
    listed = run(conan, "list", "heapwright/*", "--format=json", env=env)
    assert list(json.loads(listed)["Local Cache"]) == [f"heapwright/{__version__}"]


@pytest.mark.slow
def test_the_port_of_vcpkg_installs_a_tree(tmp_path: Path) -> None:
    tree = tmp_path / "packages"
    script = HERE / "vcpkg.cmake"
    words = [f"-DPORTFILE={PORT / 'portfile.cmake'}", f"-DCURRENT_PACKAGES_DIR={tree}"]
    run(tool("cmake"), *words, "-P", script)
    assert not (tree / "lib" / "cmake" / "heapwright").exists()
    there = {file.name for file in (tree / "share" / "heapwright").iterdir()}
    assert there >= {"copyright", "usage", "heapwrightConfig.cmake"}
    consume(tree, tmp_path / "consumer")


def test_the_manifest_of_vcpkg_has_the_form_of_its_formatter() -> None:
    text = (PORT / "vcpkg.json").read_text(encoding="utf-8")
    manifest = json.loads(text)
    assert text == json.dumps(manifest, indent=2) + "\n"
    assert manifest["name"] == PORT.name
    assert manifest["version-semver"] == __version__
    order = ["name", "version-semver", "description", "license", "supports", "dependencies"]
    assert list(manifest) == order
    helpers = [{"name": f"vcpkg-cmake{which}", "host": True} for which in ("", "-config")]
    assert manifest["dependencies"] == helpers
    usage = (PORT / "usage").read_text(encoding="utf-8")
    (components,) = re.findall(r"COMPONENTS (.*)\)", usage)
    assert sorted(components.split()) == sorted(re.findall(r"heapwright::([\w-]+)", usage))


@pytest.mark.slow
def test_nix_evaluates_the_package(tmp_path: Path) -> None:
    if not shutil.which("nix-instantiate"):
        pytest.skip("no nix-instantiate here (package nix-bin)")
    env = {"NIX_STATE_DIR": str(tmp_path / "state"), "HOME": str(tmp_path)}
    nix = ("nix-instantiate", "--store", "dummy://")
    run(*nix, "--parse", PACKAGING / "nix" / "default.nix", env=env)
    done = run(*nix, "--eval", "--strict", "--json", "--expr", NIX % ROOT, env=env)
    package = json.loads(done)
    assert package["version"] == __version__
    assert package["cmakeFlags"] == ["-DHEAPWRIGHT_TOOL=OFF"]
    assert package["nativeBuildInputs"] == ["cmake", "ninja"]
    read = {str(Path(each).relative_to(ROOT)) for each in package["src"]}
    assert read == sources_of_conan()  # a test builds the recipe of Conan from these
    assert all(Path(each).exists() for each in package["src"])


def debian_paths(native: Path) -> set[str]:
    """What the package installs at Debian's places, as the equal tree inside the tool has it. A
    library belongs to it if it has a file for pkg-config."""
    lib = native / "lib"
    headers = [each for each in (native / "include").rglob("*") if each.is_file()]
    found = {f"include/{each.relative_to(native / 'include')}" for each in headers}
    found |= {f"lib/multiarch/cmake/heapwright/{each.name}" for each in lib.glob("cmake/*/*")}
    for file in lib.glob("pkgconfig/*.pc"):
        stem = file.stem.removesuffix("-static")
        libraries = [lib / f"lib{stem}.a"] if stem != file.stem else [lib / f"lib{stem}.so"]
        libraries += [lib / "libheapwright-c.a"] if stem == "heapwright-c" else []
        found |= {f"lib/multiarch/pkgconfig/{file.name}"}
        found |= {f"lib/multiarch/{each.name}" for each in libraries if each.exists()}
    # packaging/debian/package.cmake gives granary a versioned name.
    return {f"usr/{each}" for each in found | {"lib/multiarch/libheapwright-granary.so.0"}}


def test_debian_packages_have_each_file_or_leave_it_out(native: Path) -> None:
    """debhelper ends a build for a file without a list. One for pkg-config needs its library."""
    lists = {file.stem: file for file in [*DEBIAN.glob("*.install"), DEBIAN / "not-installed"]}
    patterns = {name: file.read_text(encoding="utf-8").split() for name, file in lists.items()}

    def places(path: str) -> set[str]:
        """The lists with a pattern for the file, or for a folder above it."""
        above = [PurePosixPath(path), *PurePosixPath(path).parents]
        return {
            name
            for name, globs in patterns.items()
            if any(each.match(glob) for each in above for glob in globs)
        }

    files = debian_paths(native)
    assert len(files) > 300
    found = {path: places(path) for path in files}
    assert sorted(path for path, its in found.items() if not its) == []
    packed: dict[str, set[str]] = {}
    for path, its in found.items():
        for name in its - {"not-installed"}:
            packed.setdefault(name, set()).add(path)
    headers = packed.pop("heapwright-headers")
    assert headers >= {path for path in files if "/include/" in path or "/cmake/" in path}
    assert {path for path in headers if path.endswith(".pc")} == {
        "usr/lib/multiarch/pkgconfig/heapwright.pc"
    }
    below = "usr/lib/multiarch"
    assert packed == {
        "libheapwright-c-dev": {
            f"{below}/libheapwright-c.a",
            f"{below}/pkgconfig/heapwright-c.pc",
        },
        "libheapwright-granary-dev": {
            f"{below}/libheapwright-granary.a",
            f"{below}/libheapwright-granary.so",
            f"{below}/pkgconfig/heapwright-granary-static.pc",
            f"{below}/pkgconfig/heapwright-granary.pc",
        },
        "libheapwright-granary0": {f"{below}/libheapwright-granary.so.0"},
    }


def test_a_pattern_of_debian_covers_no_deeper_folder() -> None:
    """A `*` of debhelper stands for one part of a path, as in `PurePath.match`."""
    assert PurePosixPath("usr/lib/x/heapwright").match("usr/lib/*/heapwright")
    assert not PurePosixPath("usr/lib/x/cmake/heapwright").match("usr/lib/*/heapwright")


@pytest.mark.slow
def test_the_formula_builds_and_tests(tmp_path: Path) -> None:
    if not shutil.which("ruby"):
        pytest.skip("no ruby here (package ruby)")
    formula = PACKAGING / "homebrew" / "heapwright.rb"
    run("ruby", "-wc", formula)
    env = {"HOMEBREW_HEAPWRIGHT_CLONE": "/clone"}
    steps = run("ruby", HERE / "formula.rb", formula, cwd=tmp_path, env=env).splitlines()
    assert steps[:4] == [
        "head file:///clone git main",
        "cmake -S . -B build -G Ninja -DHEAPWRIGHT_TOOL=OFF -DCMAKE_INSTALL_PREFIX=/prefix",
        "cmake --build build",
        "cmake --install build",
    ]
    assert "-I/prefix/include -L/prefix/lib -Wl,-rpath,/prefix/lib -lheapwright-c" in steps[4]
    run(tool("gcc"), f"-I{ROOT / 'include'}", "-fsyntax-only", tmp_path / "regions.c")


@pytest.mark.compiles
def test_folders_may_be_absolute(tmp_path: Path) -> None:
    """Nix and other distributions name the folders of libraries and headers so."""
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    folders = {"LIBDIR": prefix / "out" / "lib64", "INCLUDEDIR": prefix / "dev" / "include"}
    named = [f"-DCMAKE_INSTALL_{name}={folder}" for name, folder in folders.items()]
    configure(ROOT, build, "-DHEAPWRIGHT_TOOL=OFF", f"-DCMAKE_INSTALL_PREFIX={prefix}", *named)
    run(tool("cmake"), "--install", build, "--component", "headers")
    env = {"PKG_CONFIG_PATH": str(folders["LIBDIR"] / "pkgconfig")}
    (flag,) = run(tool("pkg-config"), "--cflags", "heapwright", env=env).split()
    assert (Path(flag.removeprefix("-I")) / "heapwright" / "heap.hpp").is_file()
    project = tmp_path / "project"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(user LANGUAGES NONE)\n"
        "find_package(heapwright REQUIRED COMPONENTS headers)\n"
        'message(STATUS "headers: ${heapwright_INCLUDE_DIR}, ${heapwright_LIB_DIR}")\n',
        encoding="utf-8",
    )
    done = run(
        tool("cmake"),
        *("-S", project, "-B", project / "build"),
        f"-Dheapwright_DIR={folders['LIBDIR'] / 'cmake' / 'heapwright'}",
    )
    assert f"headers: {folders['INCLUDEDIR']}, {folders['LIBDIR']}" in done

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The components of the package and its pkg-config files: each is found, or it is named."""

from pathlib import Path

import pytest

from support.running import ran

from .conftest import CONSUMER, EXAMPLES, compilers, consume, expected, run, tool

COMPONENTS = ("headers", "granary", "granary-static", "c")
FILES = {
    "granary": "libheapwright-granary.so",
    "granary-static": "libheapwright-granary.a",
    "c": "libheapwright-c.*",
}
"""The files of each component in lib/, except the headers, which come with the package itself."""


def demanding(folder: Path, tree: Path, *components: str) -> tuple[int, str]:
    """The status and the words of CMake for a project that requires these components."""
    (folder / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(demanding LANGUAGES NONE)\n"
        f"find_package(heapwright REQUIRED COMPONENTS {' '.join(components)})\n",
        encoding="utf-8",
    )
    cmake = tool("cmake")
    done = ran([cmake, "-S", folder, "-B", folder / "b", f"-DCMAKE_PREFIX_PATH={tree}"])
    return done.returncode, " ".join(done.stderr.split())


def without(native: Path, component: str, tree: Path) -> Path:
    """A copy of an installed tree, of links, that lacks a component."""
    (tree / "lib").mkdir(parents=True)
    (tree / "include").symlink_to(native / "include")
    missing = set((native / "lib").glob(FILES[component]))
    assert missing
    for file in set((native / "lib").iterdir()) - missing:
        # CMake resolves the link of a package's folder, so that one is a folder of its own.
        if file.name != "cmake":
            (tree / "lib" / file.name).symlink_to(file)
    package = tree / "lib" / "cmake" / "heapwright"
    package.mkdir(parents=True)
    for file in (native / "lib" / "cmake" / "heapwright").iterdir():
        (package / file.name).write_bytes(file.read_bytes())
    return tree


def answers(program: Path, *, static: bool) -> None:
    """The program finds granary as its malloc, linked as stated."""
    run(program)
    loaded = run(tool("readelf"), "-d", program)
    assert ("libheapwright-granary.so" in loaded) is not static


@pytest.mark.compiles
def test_all_components_are_found_in_one_project(native: Path, tmp_path: Path) -> None:
    consume(native, tmp_path)
    answers(tmp_path / "shared", static=False)
    answers(tmp_path / "static", static=True)


@pytest.mark.parametrize("component", FILES)
def test_a_missing_component_is_named(component: str, native: Path, tmp_path: Path) -> None:
    tree = without(native, component, tmp_path / "tree")
    status, words = demanding(tmp_path, tree, *COMPONENTS)
    assert status != 0
    assert f"There is no {component} in {tree}/lib. " in words
    assert "install it without `--component`" in words
    assert words.count("There is no") == 1
    others = [each for each in COMPONENTS if each != component]
    listed = words.partition("Its components are: ")[2].partition(". ")[0].split()
    assert set(others) <= set(listed)
    assert component not in listed
    assert demanding(tmp_path, tree, *others) == (0, "")


def test_an_unknown_component_is_named(prefix: Path, tmp_path: Path) -> None:
    status, words = demanding(tmp_path, prefix, "c", "granry")
    assert status != 0
    assert f"There is no granry in {prefix}/lib. Its components are: headers c c-static." in words
    assert "There is no c in" not in words


def flags(tree: Path, *words: str) -> list[str]:
    """What pkg-config prints for the packages of a tree."""
    env = {"PKG_CONFIG_PATH": str(tree / "lib" / "pkgconfig")}
    return run(tool("pkg-config"), "--cflags", "--libs", *words, env=env).split()


@pytest.mark.parametrize("how", ["shared", "static"])
def test_a_c_program_is_built_with_pkg_config(how: str, prefix: Path, tmp_path: Path) -> None:
    options = ["--static"] if how == "static" else []
    link = ["-static"] if how == "static" else [f"-Wl,-rpath,{prefix}/lib"]
    c, _ = compilers("g++")
    warnings = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    program, source = tmp_path / "program", EXAMPLES / "c_regions" / "main.c"
    found = flags(prefix, *options, "heapwright-c")
    run(c, *warnings, source, *found, *link, "-o", program)
    assert run(program) == expected("c_regions")


@pytest.mark.parametrize(
    ("options", "link"),
    [
        (["heapwright-granary"], []),
        (["--static", "heapwright-granary"], ["-static"]),
        (["heapwright-granary-static"], ["-static"]),
    ],
    ids=["shared", "the same static", "static"],
)
def test_granary_is_linked_with_pkg_config(
    options: list[str], link: list[str], native: Path, tmp_path: Path
) -> None:
    c, _ = compilers("g++")
    program, source = tmp_path / "program", CONSUMER / "malloc.c"
    there = [f"-Wl,-rpath,{native}/lib"]
    run(c, source, *flags(native, *options), *(link or there), "-o", program)
    answers(program, static=bool(link))


def test_each_installed_library_has_a_package(native: Path) -> None:
    packages = {file.stem for file in (native / "lib" / "pkgconfig").glob("*.pc")}
    config = (native / "lib" / "cmake" / "heapwright" / "heapwrightConfig.cmake").read_text("utf-8")
    allocators = config.partition("IN ITEMS headers c ")[2].partition(")")[0].split(";")
    assert "granary" in allocators
    names = {f"heapwright-{each}" for each in [*allocators, "c", "granary-static"]}
    assert packages == names | {"heapwright"}

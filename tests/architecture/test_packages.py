# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a test may miss is in a list of packages, and in CI a missing package is a failure.

A skip names its package: `(package NAME)` or `needed("program", "NAME")`. The lists are in
scripts/packages/, and tests/README.md says which make target installs which.
"""

import ast
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from .layout import ROOT

LISTS = ROOT / "scripts" / "packages"
TESTS = ROOT / "tests"
# Each Debian system has these.
ESSENTIAL = {"base-files", "bash", "coreutils", "dash", "findutils", "libc6", "tar"}
NAME = r"[a-z0-9][a-z0-9.+-]+"
IN_WORDS = re.compile(rf"\(packages? ((?:{NAME})(?:(?:,| and) {NAME})*)\)|\((r-[a-z-]+)\)")
# Functions of the tests that take a program and its package.
NEEDING = {"needed", "need"}
# The lists that `make test` does not install, and the marker of the target that does.
MARKERS = {"programs": {"programs", "slow"}, "builds": {"compiles", "slow"}}


def listed(name: str) -> set[str]:
    """The packages of one list."""
    lines = (LISTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def everything_listed() -> set[str]:
    return {package for path in LISTS.glob("*.txt") for package in listed(path.stem)}


def named(source: str) -> Iterator[str]:
    """The packages that the skips of a Python file name."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for several, one in IN_WORDS.findall(node.value):
                yield from re.findall(NAME, several.replace(" and ", " "))
                yield from filter(None, [one])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
            if node.func.id in NEEDING and len(texts) == 2:
                yield str(texts[1])


# The packages of programs that have another name.
PACKAGE_OF = {
    "env": "coreutils",
    "gs": "ghostscript",
    "xz": "xz-utils",
    "sh": "dash",
    "/lib/ld-musl-x86_64.so.1": "musl-tools",
}


def prefixes(value: object) -> Iterator[str]:
    """The first word of each `prefix` in a document."""
    if isinstance(value, dict):
        if isinstance(words := value.get("prefix"), list) and words:
            yield words[0]
        value = list(value.values())
    for each in value if isinstance(value, list) else []:
        yield from prefixes(each)


def files() -> list[Path]:
    return sorted(path for path in TESTS.rglob("*.py") if path != Path(__file__))


NAMED = {
    str(path.relative_to(TESTS)): set(named(path.read_text(encoding="utf-8"))) for path in files()
}


def test_every_package_of_a_skip_is_in_a_list() -> None:
    known = everything_listed() | ESSENTIAL
    assert len(set().union(*NAMED.values())) > 20
    assert {file: lacks for file, names in NAMED.items() if (lacks := names - known)} == {}


def test_a_program_that_a_study_starts_is_in_a_list() -> None:
    studies = (ROOT / "catalogue" / "studies").glob("*.toml")
    started = {
        word for path in studies for word in prefixes(tomllib.loads(path.read_text("utf-8")))
    }
    assert "gs" in started
    known = everything_listed() | ESSENTIAL
    assert {word for word in started if PACKAGE_OF.get(word, word) not in known} == set()


@pytest.mark.parametrize("target", MARKERS)
def test_a_test_that_needs_more_than_the_quick_list_reports_it(target: str) -> None:
    elsewhere = listed(target) - listed("test") - listed("peers") - ESSENTIAL
    unmarked = {}
    for file, names in NAMED.items():
        text = (TESTS / file).read_text(encoding="utf-8")
        marked = any(f"mark.{marker}" in text for marker in MARKERS[target])
        if Path(file).name.startswith("test_") and names & elsewhere and not marked:
            unmarked[file] = names & elsewhere
    assert unmarked == {}


def test_names_are_found_as_tests_write_them() -> None:
    source = """
pytest.skip("no bc (package bc)")
pytest.skip(f"{name} is not installed (packages apache2-utils, python3)")
pytest.skip("needs (packages valgrind and gcc)")
pytest.skip("Rscript is not installed (r-base-core)")
needed("awk", "mawk")
other("one", "two")
"""
    assert set(named(source)) == {
        *("bc", "apache2-utils", "python3", "valgrind", "gcc", "r-base-core", "mawk"),
    }


def packages_sh(folder: Path, *, apt: str, no_skip: bool) -> subprocess.CompletedProcess[str]:
    """scripts/packages.sh on a system that has no package of lint.txt."""
    for name, script in {"dpkg-query": "exit 1", "apt-get": apt, "id": "echo 0"}.items():
        (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return subprocess.run(
        [ROOT / "scripts" / "packages.sh", "lint"],
        env={"PATH": f"{folder}:{os.environ['PATH']}"}
        | ({"HEAPWRIGHT_NO_SKIP": "1"} if no_skip else {}),
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_installation_that_fails_is_a_failure_where_nothing_may_skip(tmp_path: Path) -> None:
    done = packages_sh(tmp_path, apt="echo no network; exit 1", no_skip=True)
    assert done.returncode == 1
    assert "packages: FAILED: apt-get could not install these: shellcheck" in done.stderr
    assert "no network" in done.stdout


def test_an_installation_that_fails_is_passed_over_elsewhere(tmp_path: Path) -> None:
    done = packages_sh(tmp_path, apt="exit 1", no_skip=False)
    assert done.returncode == 0, done.stderr
    assert "going on without: shellcheck" in done.stdout


def test_an_installation_that_works_is_none(tmp_path: Path) -> None:
    done = packages_sh(tmp_path, apt="exit 0", no_skip=True)
    assert done.returncode == 0, done.stderr


def test_a_missing_linter_is_a_failure_where_nothing_may_skip(tmp_path: Path) -> None:
    script = (ROOT / "scripts" / "lint.sh").read_text(encoding="utf-8")
    function = script[script.index("tool() {") : script.index("readarray")]
    command = f"failed=0\n{function}\ntool gone gone-package gone-{os.getpid()} true\nexit $failed"
    for no_skip, status in (("1", 1), ("", 0)):
        done = subprocess.run(
            ["bash", "-c", command],
            env={"PATH": os.environ["PATH"], "HEAPWRIGHT_NO_SKIP": no_skip},
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == status
        assert "gone-package" in done.stdout + done.stderr

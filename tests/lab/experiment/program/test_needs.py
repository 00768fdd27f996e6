# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The requirements of a program: found, or named; and the query of the distribution."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.program.file import ProgramFile, read_program
from heapwright.artefacts.program.library import open_program
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.program import needs
from heapwright.experiment.program.own_allocator import c_library, linked_allocators
from heapwright.experiment.program.template_values import Binding, reaching_servers

TEXT = """format = 1
name = "needy"
title = "Needs much"
command = ["sh"]
packages = ["of-this", "of-that"]
needs = ["sh", "no-such-program", "{folder}/here", "{folder}/nowhere",
         "python:json", "python:no_such"]
"""


def needy(folder: Path, text: str = TEXT) -> ProgramFile:
    (folder / "here").touch()
    path = folder / "needy.toml"
    path.write_text(text)
    return read_program(path)


def test_missing_parts_are_named(tmp_path: Path) -> None:
    environment = reaching_servers(os.environ)
    assert needs.missing(needy(tmp_path), environment) == [
        "there is no program no-such-program",
        f"there is no {tmp_path}/nowhere",
        "there is no Python module no_such",
    ]
    with pytest.raises(HeapwrightError, match="needy cannot be run here") as error:
        needs.require(needy(tmp_path), environment)
    assert f"heapwright programs install {tmp_path / 'needy.toml'} " in error.value.hint
    assert "of-this of-that" in error.value.hint
    comes_with_it = open_program("redis")
    with pytest.raises(HeapwrightError, match="redis cannot be run here") as error:
        needs.require(comes_with_it, {"PATH": "/nowhere"})
    assert "heapwright programs install redis " in error.value.hint


def test_server_folders_are_added_to_the_path(tmp_path: Path) -> None:
    path = reaching_servers({"PATH": "/usr/bin:/usr/sbin"})["PATH"].split(":")
    assert path[:4] == ["/usr/bin", "/usr/sbin", "/usr/local/sbin", "/sbin"]
    assert all(folder.startswith("/usr/lib/postgresql/") for folder in path[4:])
    assert "/usr/bin" in reaching_servers({})["PATH"]
    assert needs.missing(needy(tmp_path), {"PATH": str(tmp_path)})[0] == "there is no program sh"


def stand_in(folder: Path, name: str, script: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def test_packages_are_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With stand-ins for the distribution's programs: nothing is installed by a test."""
    stand_in(tmp_path, "dpkg-query", '[ "$3" = there ] && printf installed')
    stand_in(tmp_path, "apt-get", f'echo "$@" >>{tmp_path}/asked; exit 0')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert needs.has_packages()
    assert needs.missing_packages(["there", "gone"]) == ["gone"]
    needs.install(["gone"], ())
    assert (tmp_path / "asked").read_text() == "install -y --no-install-recommends gone\n"


def test_a_distribution_that_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, "apt-get", f'echo "$@" >>{tmp_path}/asked; echo E: no gone >&2; exit 100')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(HeapwrightError, match="does not give gone") as error:
        needs.install(["gone"], ())
    assert error.value.hint == "| E: no gone"
    asked = (tmp_path / "asked").read_text().splitlines()
    assert [line.split()[0] for line in asked] == ["install", "update", "install"]


def test_sudo_that_needs_a_password_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    stand_in(tmp_path, "sudo", "echo a password is required >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert needs.as_root() is None
    stand_in(tmp_path, "sudo", "exit 0")
    root = needs.as_root()
    assert root is not None
    assert root[:2] == ("sudo", "-n")


def test_an_allocator_that_a_program_is_linked_to(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "library.c").write_text("int mallctl(void) { return 0; }\n")
    library, program = tmp_path / "libjemalloc.so.2", tmp_path / "program"
    flags = ["-shared", "-fPIC", "-Wl,-soname,libjemalloc.so.2"]
    made = subprocess.run(
        ["cc", *flags, tmp_path / "library.c", "-o", library], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("no C compiler that makes libraries (package gcc)")
    words = ["cc", tmp_path / "main.c", "-Wl,--no-as-needed", library, "-o", program]
    subprocess.run(words, check=True)
    assert linked_allocators(program) == ("libjemalloc.so.2",)
    assert linked_allocators(Path("/bin/sh")) == ()
    assert linked_allocators(tmp_path / "main.c") == ()
    found = c_library()
    assert found is not None
    assert found.is_file()


def test_each_run_has_its_own_port(tmp_path: Path) -> None:
    text = TEXT.replace('["sh"]', '["sh", "{port}"]')
    binding = Binding(needy(tmp_path, text), tmp_path, None)
    assert binding.text("{port} {port}") == f"{binding.port} {binding.port}"
    assert 1024 <= int(binding.port) < 65536
    named = read_program(
        needy(tmp_path, text + "[parameters]\nport = 0\n").where, None, {"port": "7"}
    )
    assert Binding(named, tmp_path, None).text("{port}") == "7"
    shown = Binding(named, None, None)
    assert shown.text("{run} {data} {port} {folder}") == "{run} {data} {port} {folder}"

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""CI builds a kernel only if a part of its build changed, and boots it each time."""

import ast
import shutil
from pathlib import Path
from types import ModuleType

import pytest

from heapwright.artefacts.kernel_study.boot import KernelBoot
from heapwright.kernel.image_cache import MADE, Built, key_of, store
from heapwright.kernel.source import Source
from support.documents import made
from support.scripts import load_script

ROOT = Path(__file__).parents[3]
KEY = key_of("slqb", "6.1.1-1", "0123456789abcdef0123")


@pytest.fixture(scope="module")
def script() -> ModuleType:
    return load_script("scripts/boot_kernel.py")


def stored(cache: Path) -> Built:
    made = cache / "made"
    (made / MADE).parent.mkdir(parents=True, exist_ok=True)
    (made / MADE).write_bytes(b"image")
    (made / ".config").write_text("CONFIG_SLQB=y\n", encoding="utf-8")
    return store(KEY, "slqb", "6.1.1-1", made, cache)


def test_only_a_kernel_of_the_same_parts_is_not_built(script: ModuleType, tmp_path: Path) -> None:
    parts = script.digest()
    assert script.why_build(None, parts) == "the cache has no such kernel"
    built = stored(tmp_path)
    assert "does not say" in script.why_build(built, parts)
    (built.folder / script.STAMP).write_text("0" * 64, encoding="utf-8")
    assert script.why_build(built, parts) == "a part of the build has changed"
    (built.folder / script.STAMP).write_text(f"{parts}\n", encoding="utf-8")
    assert script.why_build(built, parts) == ""


def test_a_change_of_any_part_changes_the_digest(script: ModuleType, tmp_path: Path) -> None:
    for name in script.PARTS:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    (tmp_path / "README.md").write_text("no part", encoding="utf-8")
    assert script.digest(tmp_path) == script.digest()
    found = {script.digest()}
    for name in script.PARTS:
        with (tmp_path / name).open("a", encoding="utf-8") as file:
            file.write("\n")
        found.add(script.digest(tmp_path))
    assert len(found) == len(script.PARTS) + 1


def test_the_parts_contain_each_module_that_a_build_imports(script: ModuleType) -> None:
    needed, seen = {"build"}, set[str]()
    while left := needed - seen:
        name = left.pop()
        seen.add(name)
        tree = ast.parse((ROOT / "src" / "heapwright" / "kernel" / f"{name}.py").read_text("utf-8"))
        modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        prefix = "heapwright.kernel."
        needed |= {each.removeprefix(prefix) for each in modules if each.startswith(prefix)}
    assert seen == set(script.MODULES)


def booted(records: str, **found: float) -> KernelBoot:
    responses = {"oom_kill": 0, "refused": 0, **found}
    return made(KernelBoot, records_sha256=records, responses=responses)


def test_boots_that_differ_or_lack_memory_are_wrong(script: ModuleType) -> None:
    good = booted("a")
    assert script.wrong(good, good) == ""
    assert "recorded other bytes" in script.wrong(good, booted("b"))
    assert script.wrong(booted("a", refused=3), good) == "refused is 3 and must be 0"


def test_it_is_built_once_and_booted_each_time(
    script: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    done: list[str] = []

    def build(names: list[str], cache: Path, _jobs: int, *, again: bool) -> list[Built]:
        assert (names, again) == (["slqb"], True)
        done.append("build")
        return [stored(cache)]

    def boot(_built: Built, _asked: object, _cache: Path) -> KernelBoot:
        done.append("boot")
        return booted("a")

    class Plan:
        key = KEY

    monkeypatch.setattr(script, "made_kernels", build)
    monkeypatch.setattr(script, "boot", boot)
    monkeypatch.setattr(script, "kernel_cache", lambda _environment: tmp_path)
    monkeypatch.setattr(script, "find_source", lambda: Source(tmp_path / "s.tar.xz", "6.1.1-1"))
    monkeypatch.setattr(script, "plan", lambda _name, _source: Plan())
    assert script.main(["--decide"]) == 0
    assert "build and boot slqb: the cache has no such kernel" in capsys.readouterr().out
    assert not done
    assert script.main([]) == 0
    assert done == ["build", "boot", "boot"]
    assert script.main([]) == 0
    assert done == ["build", "boot", "boot", "boot", "boot"]
    assert "boot slqb from the cache" in capsys.readouterr().out
    (tmp_path / "built" / KEY / "bzImage").write_bytes(b"torn")
    assert script.main([]) == 0
    assert done[5:] == ["build", "boot", "boot"]
    monkeypatch.setattr(script, "wrong", lambda _first, _second: "bytes")
    assert script.main([]) == 1
    assert "FAILED: bytes" in capsys.readouterr().out

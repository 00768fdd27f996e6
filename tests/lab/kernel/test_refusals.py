# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is missing is said with what would bring it, and nothing half-built is taken for whole."""

import contextlib
import subprocess
from pathlib import Path

import pytest

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.kernel_build import cached_kernel, parse_allocators
from heapwright.kernel import boot, build, folders, source
from heapwright.kernel.libraries import parse_ldd
from heapwright.kernel.loads import LOADS, SCALES, load_of
from heapwright.kernel.machine import Machine
from heapwright.kernel.processes import last_lines, running
from heapwright.kernel.records import GuestError


def test_without_the_source_package_its_name_is_reported(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="the kernel's source is not there") as caught:
        source.find_source(tmp_path / "linux-source.tar.xz")
    assert "apt-get install linux-source-6.1" in caught.value.hint


def test_an_archive_that_is_broken_leaves_no_folder(tmp_path: Path) -> None:
    archive = tmp_path / "broken.tar.xz"
    archive.write_bytes(b"not an archive")
    with pytest.raises(HeapwrightError, match="could not be unpacked"):
        source.unpacked(source.Source(archive, "6.1.0"), tmp_path / "cache")
    assert not list((tmp_path / "cache" / "source").iterdir())


def test_a_source_is_unpacked_once_and_without_what_is_not_needed(tmp_path: Path) -> None:
    tree = tmp_path / "linux-source-6.1"
    needed = {"Makefile", "arch/x86/Kconfig", "arch/x86/main.c", "arch/arm/crypto/Kconfig"}
    for name in (*needed, "arch/arm/main.c", "tools/perf/Makefile"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name, encoding="utf-8")
    archive = tmp_path / "s.tar.xz"
    subprocess.run(["tar", "-cJf", archive, "-C", tmp_path, tree.name], check=True)
    folder = source.unpacked(source.Source(archive, "6.1.0"), tmp_path / "cache")
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there == needed
    archive.unlink()
    assert source.unpacked(source.Source(archive, "6.1.0"), tmp_path / "cache") == folder


def test_a_disk_that_is_too_small_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match=r"needs 1048576\.0 GiB under"):
        folders.need_room(tmp_path / "not" / "there", 1 << 50, "a test")


def test_a_cache_that_cannot_be_made_is_refused_with_the_variable_that_moves_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("no folder")
    cache = tmp_path / "file" / "kernels"
    with pytest.raises(HeapwrightError, match=f"cannot write to {cache}: Not a dir") as caught:
        source.unpacked(source.Source(tmp_path / "s.tar.xz", "6.1.0"), cache)
    assert "XDG_CACHE_HOME" in caught.value.hint
    assert caught.value.exit_code == ExitCode.NOT_WRITTEN


def test_tools_that_are_missing_are_named_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HeapwrightError, match="needs make, gcc, binutils, flex, bison, bc, perl"):
        build.need_tools()


def test_a_make_that_fails_shows_its_error_and_its_log(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("bzImage:\n\t@echo some error: no; false\n", "utf-8")
    made = tmp_path / "made"
    made.mkdir()
    with pytest.raises(HeapwrightError, match="make bzImage failed with status 2") as caught:
        build._make(tmp_path, made, ("bzImage",))
    assert "some error: no" in caught.value.hint
    assert str(made / "make.log") in caught.value.hint


def test_two_builds_do_not_work_in_one_folder(tmp_path: Path) -> None:
    with (
        build.alone(tmp_path),
        pytest.raises(HeapwrightError, match="another process builds"),
        build.alone(tmp_path),
    ):
        raise AssertionError


def test_a_process_and_its_children_end_with_the_wait(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running(["sh", "-c", "echo begun; sleep 1000 & wait"], log) as process:
        while b"begun" not in log.read_bytes():
            assert process.poll() is None
    assert process.returncode is not None
    assert last_lines(log, 3) == ["begun"]


def test_an_unknown_allocator_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(HeapwrightError, match="no kernel can be built with 'slqq'") as caught:
        parse_allocators("slub,slqq")
    assert "slqb" in caught.value.hint
    assert parse_allocators("slqb, slab,slqb") == ("slqb", "slab")


def test_a_kernel_that_is_not_built_is_reported_with_the_command(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="there is no slab kernel") as caught:
        cached_kernel("slab", tmp_path)
    assert "heapwright kernel build -a slab" in caught.value.hint


def test_libraries_are_read_from_ldd_and_a_missing_one_is_named() -> None:
    text = (
        "\tlinux-vdso.so.1 (0x00007ffd5b3f2000)\n"
        "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f1)\n"
        "\t/lib64/ld-linux-x86-64.so.2 (0x00007f2)\n"
    )
    assert parse_ldd(text) == ["/lib/x86_64-linux-gnu/libm.so.6", "/lib64/ld-linux-x86-64.so.2"]
    with pytest.raises(HeapwrightError, match=r"the library libpq\.so\.5 is not found"):
        parse_ldd("\tlibpq.so.5 => not found\n")


def test_loads_and_scales_are_known_by_name() -> None:
    with pytest.raises(HeapwrightError, match="there is no load 'chrun'"):
        load_of("chrun", "small")
    with pytest.raises(HeapwrightError, match="there is no scale 'large'"):
        load_of("churn", "large")
    for name, scales in LOADS.items():
        assert set(scales) == set(SCALES)
        assert all(each.name == name for each in scales.values())


def test_a_kvm_device_that_is_not_there_is_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(boot, "KVM", tmp_path / "kvm")
    machine = Machine(tmp_path / "k", tmp_path / "i", 64, kvm=True)
    with pytest.raises(HeapwrightError, match="there is no") as caught:
        boot.prove_kvm("qemu", machine, tmp_path)
    assert "without --kvm" in caught.value.hint


def test_an_emulator_that_fails_is_shown(tmp_path: Path) -> None:
    emulator = tmp_path / "qemu"
    emulator.write_text("#!/bin/sh\necho no such machine >&2\nexit 1\n", encoding="utf-8")
    emulator.chmod(0o755)
    machine = Machine(tmp_path / "k", tmp_path / "i", 64)
    with pytest.raises(GuestError, match="qemu left with status 1") as caught:
        boot.run_machine(str(emulator), machine, tmp_path, 30)
    assert "no such machine" in caught.value.hint


def test_an_emulator_that_cannot_be_started_is_an_error(tmp_path: Path) -> None:
    emulator = tmp_path / "qemu"
    emulator.write_text("#!/bin/sh\n", encoding="utf-8")
    machine = Machine(tmp_path / "k", tmp_path / "i", 64)
    with pytest.raises(HeapwrightError, match="cannot be run: Permission denied") as caught:
        boot.run_machine(str(emulator), machine, tmp_path, 30)
    assert caught.value.hint == "allow this user to run it"
    emulator.chmod(0o755)
    emulator.write_text("#!/no/interpreter\n", encoding="utf-8")
    with pytest.raises(HeapwrightError, match=f"{emulator} cannot be run: No such") as caught:
        boot.run_machine(str(emulator), machine, tmp_path, 30)
    assert not caught.value.hint


def test_a_boot_that_hangs_is_shown_with_the_end_of_its_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Hangs:
        def wait(self, timeout_s: float) -> int:
            (tmp_path / "console.log").write_text("[ 1.0] Run /init\n", encoding="utf-8")
            raise subprocess.TimeoutExpired("qemu", timeout_s)

    monkeypatch.setattr(boot, "running", lambda *_: contextlib.nullcontext(Hangs()))
    machine = Machine(tmp_path / "k", tmp_path / "i", 64)
    with pytest.raises(GuestError, match="the guest was not done after 30 s") as caught:
        boot.run_machine("qemu", machine, tmp_path, 30)
    assert "[ 1.0] Run /init" in caught.value.hint
    assert "--timeout" in caught.value.hint

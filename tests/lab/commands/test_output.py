# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Destinations are tried early and written whole."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.output import Destination


def refusal(path: Path | str) -> str:
    with pytest.raises(HeapwrightError) as caught:
        Destination(str(path), "--json")
    return caught.value.message


def test_a_file_is_written_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    destination = Destination(str(tmp_path / "out.json"), "--json")
    assert list(tmp_path.iterdir()) == []
    destination.write("text é\n")
    assert [p.name for p in tmp_path.iterdir()] == ["out.json"]
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == "text é\n"


def test_a_new_file_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    Destination(str(tmp_path / "out"), "--json").write("x")
    (tmp_path / "other").touch()
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_an_older_file_keeps_its_mode_and_a_link_its_target(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("old")
    target.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(target)
    destination = Destination(str(link), "--json")
    assert target.read_text() == "old"
    destination.write("new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640


def test_names_that_are_no_text_do_not_matter(tmp_path: Path) -> None:
    Destination(str(tmp_path / "out"), "--json").write("caf\udce9")
    assert (tmp_path / "out").read_bytes() == b"caf\\udce9"


def test_a_device_is_written_to_directly() -> None:
    Destination("/dev/null", "--json").write("x")
    assert Path("/dev/null").is_char_device()


def test_a_pipe_has_no_name_but_that_of_its_link() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe:
        Destination(f"/dev/fd/{writing}", "--json").write("x")
        os.close(writing)
        assert pipe.read() == b"x"


def half_written(destination: Destination) -> None:
    with destination.file() as file:
        file.write_text("half")
        raise OSError(28, "No space left on device")


def test_lines_of_another_writer_arrive_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("old")
    with Destination(str(out), "--wl").file() as file:
        file.write_text("new")
        assert out.read_text() == "old"
    assert out.read_text() == "new"
    with pytest.raises(HeapwrightError) as caught:
        half_written(Destination(str(out), "--wl"))
    assert caught.value.exit_code is ExitCode.NOT_WRITTEN
    assert out.read_text() == "new"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_an_unwritable_file_is_found_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "--json" in refusal(tmp_path)
    assert "it is a folder" in refusal(tmp_path)
    assert f"there is no folder {tmp_path / 'none'}" in refusal(tmp_path / "none" / "out")
    assert "there is no folder" in refusal(tmp_path / "file" / "out")
    assert "--json /proc/heapwright.json cannot be written" in refusal("/proc/heapwright.json")


@pytest.mark.parametrize("mode", [0o444, 0o000])
def test_a_file_that_may_not_be_written_is_found_before(
    tmp_path: Path, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out"
    path.write_text("precious")
    path.chmod(mode)
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)  # the super-user would be let in
    assert "may not be written" in refusal(path)


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    destination = Destination("-", "--json")
    assert destination.is_standard_output
    destination.write("é\n")
    assert capfdbinary.readouterr().out == "é\n".encode()


def test_a_full_disk_leaves_the_older_result(tmp_path: Path) -> None:
    """The limit on a file's size has the same effect as a full disk."""
    program = (
        "import resource, signal, sys\n"
        "from heapwright.commands.output import Destination\n"
        "from heapwright.base.errors import HeapwrightError\n"
        "destination = Destination(sys.argv[1], '--json')\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try: destination.write('x' * 1000)\n"
        "except HeapwrightError as error: sys.exit(error.exit_code)\n"
    )
    path = tmp_path / "out"
    path.write_text("precious")
    done = subprocess.run([sys.executable, "-c", program, path], check=False)
    assert done.returncode == ExitCode.NOT_WRITTEN
    assert path.read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 1

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The script presses the quit key of Code::Blocks once the project is loaded, and not before."""

import os
from pathlib import Path
from types import ModuleType

import pytest

from support.scripts import load_script

PARSED = "Project 'made' parsing stage done (1 total parsed files, 2 tokens in 0 minute(s))."
LISTED = "SystemHeadersThread: Total number of paths: 7"
ASKS = 'Master path of compiler ID "gcc" is empty -> triggers auto-detection.'


@pytest.fixture
def session() -> ModuleType:
    return load_script("catalogue/programs/sources/codeblocks_display.py")


@pytest.mark.parametrize(
    ("log", "pressed"),
    [
        ((LISTED, PARSED), 1),
        ((PARSED, "Class browser updated", LISTED, "Class browser updated"), 1),
        ((PARSED, PARSED), 0),
        ((LISTED,), 0),
        ((PARSED, "Deinitializing plugins...", LISTED), 0),
    ],
)
def test_it_presses_quit_when_the_project_is_parsed(
    log: tuple[str, ...],
    pressed: int,
    session: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    presses: list[None] = []
    monkeypatch.setattr(session, "press_quit", lambda: presses.append(None))
    terminal, theirs = os.openpty()
    try:
        session.tty.setraw(theirs)
        os.write(theirs, "".join(f"{line}\n" for line in (*log, ASKS)).encode())
        with pytest.raises(SystemExit, match="compiler"):
            session.attend(terminal)
    finally:
        os.close(terminal)
        os.close(theirs)
    assert len(presses) == pressed
    assert capsys.readouterr().out.splitlines() == [*log, ASKS]


def test_the_cookie_is_readable_by_its_user_only(session: ModuleType, tmp_path: Path) -> None:
    cookie = tmp_path / "cookie"
    session.authority(cookie)
    written = cookie.read_bytes()
    assert cookie.stat().st_mode & 0o077 == 0
    assert written[:6] == b"\xff\xff\0\0\0\0"  # any address, any number
    assert written[6:26] == b"\0\x12MIT-MAGIC-COOKIE-1"
    assert written[26:28] == b"\0\x10"
    assert len(written) == 28 + 16

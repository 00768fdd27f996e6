# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A virtual display for Code::Blocks. Presses its quit key when the project is loaded.

codeblocks_display.py FOLDER

Xvfb listens only on a socket, with a free display number. It admits clients with the cookie of the
file `cookie` in FOLDER. Once it answers, the file `display` there contains the number.

Code::Blocks, started in FOLDER with `--debug-log-to-file`, writes its log to the path of that
name there. To a file it would write in blocks and keep the end in memory. The path is therefore a
link to a terminal, to which it writes line by line. When the log reports that the project is parsed
and the system's headers are listed, the script presses Ctrl-Q, repeatedly if needed. It prints the
log.
"""

import contextlib
import os
import secrets
import select
import signal
import struct
import subprocess
import sys
import time
import tty
from collections.abc import Iterator
from pathlib import Path

LOG = "codeblocks-debug.log"
"""Code::Blocks' own name for it."""
ASKING = "triggers auto-detection"
"""Code::Blocks opens a dialogue about compilers, which the script cannot answer."""
AWAITED = {"parsing stage done (", "SystemHeadersThread: Total number of paths"}
LEAVING = "Deinitializing plugins"
TITLE = "Code::Blocks"
PATIENCE_S = 5.0
"""Time after which the script presses the key again."""
AT_A_TIME = 65536
ANY_FAMILY = 0xFFFF
"""Address family in an authority file: the entry holds for every display."""
KEY_BYTES = 16


def authority(path: Path) -> None:
    """Write an authority file of one entry: family, address, number, name and key, each but the
    first with its length before it (XauReadAuth)."""
    fields = (b"", b"", b"MIT-MAGIC-COOKIE-1", secrets.token_bytes(KEY_BYTES))
    entry = b"".join(struct.pack(">H", len(each)) + each for each in fields)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(struct.pack(">H", ANY_FAMILY) + entry)


@contextlib.contextmanager
def display(cookie: Path) -> Iterator[str]:
    """Run Xvfb and yield the name of its display."""
    reading, writing = os.pipe()
    command = ("Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x1024x24")
    closed = ("-nolisten", "tcp", "-auth", str(cookie), "-noreset")
    with subprocess.Popen([*command, *closed], pass_fds=[writing]) as xvfb:
        try:
            os.close(writing)
            with os.fdopen(reading) as told:
                number = told.readline().strip()
            if not number:
                sys.exit("Xvfb did not report the number of its display")
            yield f":{number}"
        finally:
            xvfb.terminate()


def lines(terminal: int) -> Iterator[str]:
    """Yield the lines written to a terminal, and an empty one after each silence."""
    rest = b""
    while True:
        if not select.select([terminal], [], [], PATIENCE_S)[0]:
            yield ""
            continue
        *whole, rest = (rest + os.read(terminal, AT_A_TIME)).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")


def press_quit() -> None:
    """Press Ctrl-Q in the window. It gets the focus here, because no window manager runs."""
    find = ("xdotool", "search", "--onlyvisible", "--name", TITLE)
    keys = ("windowfocus", "--sync", "key", "ctrl+q")
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run([*find, *keys], timeout=PATIENCE_S, check=False)


def attend(terminal: int) -> None:
    """Print the log and press the quit key when the project is loaded. Runs until SIGTERM."""
    awaited, pressed = set(AWAITED), float("-inf")
    for line in lines(terminal):
        if line:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
        if ASKING in line:
            sys.exit("Code::Blocks asks for a compiler that its settings do not name")
        awaited -= {each for each in awaited if each in line}
        if LEAVING in line:
            pressed = float("inf")
        if not awaited and time.monotonic() - pressed > PATIENCE_S:
            press_quit()
            pressed = time.monotonic()


def main(folder: Path) -> None:
    """Serve the display and the log until SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    terminal, theirs = os.openpty()
    tty.setraw(theirs)
    (folder / LOG).symlink_to(os.ttyname(theirs))
    cookie = folder / "cookie"
    authority(cookie)
    with display(cookie) as where:
        said = folder / "display.new"
        said.write_text(where + "\n")
        said.rename(folder / "display")
        os.environ |= {"DISPLAY": where, "XAUTHORITY": str(cookie)}
        attend(terminal)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

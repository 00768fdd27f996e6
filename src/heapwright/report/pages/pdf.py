# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A page as PDF: what a Chromium that is installed prints of it.

A page is drawn by its own script, so only a browser can print it. The package does not require one,
because most readers open the page itself. Without one, the error says what to install, and that the
print dialogue of any browser does the same.

The browser reads and writes in a folder beside the destination, not in /tmp, which a browser that
is confined by its packaging (snap, flatpak) may not see. It has a profile of its own there, so that
it neither waits for nor disturbs one that is running.
"""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from heapwright.base.errors import ExitCode, HeapwrightError

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "brave-browser",
)
LONGEST_S = 180
DRAWING_MS = 60_000
"""Virtual time: it passes as fast as the page's script can use it."""
BEGINNING = b"%PDF-"


def browser() -> str:
    """Path of a browser that prints. Raises HeapwrightError where there is none."""
    for name in BROWSERS:
        found = shutil.which(name)
        if found is not None:
            return found
    raise HeapwrightError(
        "a PDF is printed by Chromium, and there is none here",
        f"install one of {', '.join(BROWSERS)}, or open the page in any browser and print it",
    )


def write_pdf(text: str, target: Path) -> None:
    """Print the page to a file. Raises HeapwrightError; an older file is then still there."""
    program = browser()
    with tempfile.TemporaryDirectory(prefix=".heapwright-", dir=target.parent) as name:
        folder = Path(name)
        page, made = folder / "page.html", folder / "page.pdf"
        page.write_text(text, encoding="utf-8")
        said = _print(program, page, made)
        if not made.is_file() or not made.read_bytes().startswith(BEGINNING):
            raise HeapwrightError(
                f"{program} printed nothing",
                said or "it said nothing about why",
                exit_code=ExitCode.NOT_WRITTEN,
            )
        made.replace(target)


def _print(program: str, page: Path, made: Path) -> str:
    """Run the browser; the last thing that it said."""
    command = [
        *(program, "--headless", "--disable-gpu", "--disable-dev-shm-usage"),
        *(("--no-sandbox",) if os.geteuid() == 0 else ()),  # it refuses root otherwise
        *("--no-first-run", f"--user-data-dir={page.parent / 'browser'}"),
        *("--window-size=1000,1400", f"--virtual-time-budget={DRAWING_MS}"),
        *("--no-pdf-header-footer", f"--print-to-pdf={made}", page.as_uri()),
    ]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LONGEST_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"it did not end within {LONGEST_S} s"
    except OSError as error:
        return error.strerror or str(error)
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else ""

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A page as PDF, printed by an installed Chromium.

A page is drawn by its own script, so only a browser can print it. The package does not require one,
because most readers open the page itself. Without one, the error says what to install, and that the
print dialogue of any browser does the same.

The browser reads and writes in a folder beside the destination. A browser in a sandbox (snap,
flatpak) may not see /tmp. It has a separate profile there, so it is independent of a running
browser.
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
    """Print the page to a file. After a HeapwrightError an older file still exists."""
    program = browser()
    with tempfile.TemporaryDirectory(prefix=".heapwright-", dir=target.parent) as name:
        folder = Path(name)
        page, made = folder / "page.html", folder / "page.pdf"
        page.write_text(text, encoding="utf-8")
        said = _print(program, page, made)
        if not made.is_file() or not made.read_bytes().startswith(BEGINNING):
            raise HeapwrightError(
                f"{program} printed nothing",
                said or "it printed no reason",
                exit_code=ExitCode.NOT_WRITTEN,
            )
        made.replace(target)


def _print(program: str, page: Path, made: Path) -> str:
    """Run the browser; return the last line of its output."""
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

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The artefacts of a release, and bare systems of Debian to install them in."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from support.running import ran

ROOT = Path(__file__).parents[3]
MADE = "HEAPWRIGHT_RELEASE"
"""Names a folder that `make release` made. Without it the tests build one, which takes minutes."""
CLEAN = "env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin"
RUN = f'--customize-hook=chroot "$1" {CLEAN} sh /files/script.sh >"$1/files/said"'
InDebian = Callable[..., str]


@pytest.fixture(scope="session")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all artefacts of the last commit."""
    if made := os.environ.get(MADE):
        return Path(made)
    if shutil.which("dh") is None:
        pytest.skip("dh is not installed (package debhelper)")
    folder = tmp_path_factory.mktemp("release")
    done = ran(
        [ROOT / "scripts" / "release.sh", folder], env={**os.environ, "PYTHON": sys.executable}
    )
    if done.returncode == 3:
        pytest.skip(f"{done.stderr} (package python3-venv)")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def in_debian(tmp_path: Path) -> InDebian:
    """Runs a script as root of a new, bare Debian that is deleted afterwards. The folder
    `files` is /files there. The result is what the script printed."""
    program = shutil.which("mmdebstrap") or pytest.skip("(package mmdebstrap)")

    def run(suite: str, script: str, files: Path, packages: str = "") -> str:
        (files / "script.sh").write_text(f"set -eu\ncd /files\n{script}", encoding="utf-8")
        command = [program, "--quiet", "--variant=apt", "--format=null", f"--include={packages}"]
        command += [f'--customize-hook=copy-in "{files}" /', RUN]
        command += [f'--customize-hook=copy-out /files/said "{tmp_path}"', suite, "-"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return (tmp_path / "said").read_text(encoding="utf-8")

    return run

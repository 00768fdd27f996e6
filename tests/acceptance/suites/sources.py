# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A package's source as the distribution gives it, without a change to the system's lists."""

import shutil
import subprocess
from pathlib import Path

from .suite import MissingError

# Where apt has its binary packages from; sources are in the same places.
TARGETS = ["apt-get", "indextargets", "--format", "$(REPO_URI) $(SUITE) $(COMPONENT)"]


def source(package: str, folder: Path) -> Path:
    """The unpacked source; fetched unless it is there."""
    place = folder / "sources" / package
    found = [path for path in place.glob("*") if path.is_dir() and path.name.startswith(package)]
    if found:
        return found[0]
    if shutil.which("apt-get") is None or shutil.which("dpkg-source") is None:
        raise MissingError(
            f"the source of {package} comes through apt-get and dpkg-source (dpkg-dev)"
        )
    for name in ("lists/partial", "cache/archives/partial"):
        (place / name).mkdir(parents=True, exist_ok=True)
    options = _own_lists(place)
    for words in (["update"], ["source", package]):
        done = subprocess.run(
            ["apt-get", "-q", *options, *words],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise MissingError(f"apt-get {' '.join(words)}: {done.stderr[-500:]}")
    return source(package, folder)


def _own_lists(place: Path) -> list[str]:
    """Options with which apt-get knows sources, and keeps all that it learns in a folder."""
    listed = subprocess.run(
        [*TARGETS, "Created-By: Packages", "Origin: Debian"],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [f"deb-src {line}\n" for line in sorted(set(listed.stdout.splitlines()))]
    if not lines:
        raise MissingError("apt-get knows no archive of Debian's: run apt-get update first")
    (place / "sources.list").write_text("".join(lines), encoding="utf-8")
    values = {
        "Dir::Etc::sourcelist": place / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State::lists": place / "lists",
        "Dir::Cache": place / "cache",
        "APT::Sandbox::User": "root",
    }
    return [word for key, value in values.items() for word in ("-o", f"{key}={value}")]

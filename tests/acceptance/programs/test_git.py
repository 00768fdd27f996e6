# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""git: a byte wrong anywhere is another hash; gc packs with several threads."""

import hashlib
import random
from pathlib import Path

from .under import Under, needed

FILES = 600
COMMITS = 3
WHO = "A Tester <tester@example.org>"
IDENTITY = {
    f"GIT_{role}_{part}": value
    for role in ("AUTHOR", "COMMITTER")
    for part, value in (
        ("NAME", "A Tester"),
        ("EMAIL", "tester@example.org"),
        ("DATE", "1000000000 +0000"),
    )
} | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}


def test_git_keeps_every_byte(under: Under) -> None:
    git = needed("git", "git")
    origin, copy = under.home / "origin", under.home / "copy"

    def call(*words: str, where: Path = origin) -> str:
        finished = under.run([git, "-c", "pack.threads=4", *words], cwd=where, extra=IDENTITY)
        return finished.output.decode().strip()

    origin.mkdir()
    call("init", "--quiet", "--initial-branch=main")
    parent = None
    for number in range(COMMITS):
        contents = _write_files(origin, number)
        call("add", "--all")
        call("commit", "--quiet", "--message", f"commit {number}")
        parent = _commit_hash(_tree_hash(contents), parent, f"commit {number}\n")
        assert call("rev-parse", "HEAD") == parent
    call("gc", "--quiet", "--aggressive", "--prune=now")
    call("fsck", "--strict", "--full", "--no-dangling")
    call("clone", "--quiet", "--no-local", str(origin), str(copy))
    call("fsck", "--strict", "--full", where=copy)
    assert call("rev-parse", "HEAD", where=copy) == parent
    assert call("log", "--format=%s", "--", "file-0001", where=copy).splitlines() == [
        f"commit {number}" for number in reversed(range(COMMITS))
    ]
    assert call("status", "--porcelain", where=copy) == ""
    assert {file.name: file.read_bytes() for file in copy.glob("file-*")} == contents


def _write_files(folder: Path, number: int) -> dict[str, bytes]:
    """Files from one line to some hundred KiB; half of the lines change from commit to commit."""
    contents = {}
    for index in range(FILES):
        lines = 8000 if index % 150 == 0 else index % 97 + 1
        steady, changing = random.Random(index), random.Random(f"{index} {number}")
        text = "\n".join(
            f"{line} {(changing if line % 2 else steady).getrandbits(60)}" for line in range(lines)
        )
        contents[f"file-{index:04}"] = text.encode()
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    return contents


def _tree_hash(contents: dict[str, bytes]) -> str:
    entries = b"".join(
        f"100644 {name}".encode() + b"\0" + bytes.fromhex(_hash("blob", data))
        for name, data in sorted(contents.items())
    )
    return _hash("tree", entries)


def _commit_hash(tree: str, parent: str | None, message: str) -> str:
    """Git's name for a commit, worked out without git."""
    head = [f"tree {tree}", *([f"parent {parent}"] if parent else [])]
    head += [f"{role} {WHO} 1000000000 +0000" for role in ("author", "committer")]
    return _hash("commit", ("\n".join(head) + "\n\n" + message).encode())


def _hash(kind: str, data: bytes) -> str:
    # SHA-1 is how git names objects, nothing is protected by it.
    return hashlib.sha1(f"{kind} {len(data)}".encode() + b"\0" + data).hexdigest()

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Small tools of every system, several processes and threads at a time."""

import hashlib
import random
from collections import Counter
from pathlib import Path

import pytest

from .under import Under, needed

WORDS = 150_000


@pytest.fixture
def text(tmp_path: Path) -> Path:
    """A file with one word and one number a line; few words come often, most are rare."""
    chosen = random.Random(5)
    lines = [f"w{int(WORDS ** chosen.random())} {chosen.getrandbits(40)}" for _ in range(WORDS)]
    path = tmp_path / "words.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_sort_with_threads_and_files(under: Under, text: Path) -> None:
    # The small buffer makes it merge from temporary files.
    command = [needed("sort", "coreutils"), "--parallel=4", "--buffer-size=2M", "-k1,1", "-k2,2n"]
    finished = under.run([*command, text], extra={"LC_ALL": "C"})
    rows = [line.split() for line in text.read_text().splitlines()]
    rows.sort(key=lambda row: (row[0], int(row[1])))
    assert finished.output.decode().splitlines() == [" ".join(row) for row in rows]


def test_awk_counts(under: Under, text: Path) -> None:
    program = "{ n[$1]++; s[$1] = s[$1] substr($2, 1, 1) } END { for (w in n) print w, n[w], s[w] }"
    finished = under.run([needed("awk", "mawk"), program, text])
    rows = [line.split() for line in text.read_text().splitlines()]
    first: dict[str, str] = {}
    for word, number in rows:
        first[word] = first.get(word, "") + number[0]
    wanted = {f"{word} {n} {first[word]}" for word, n in Counter(w for w, _ in rows).items()}
    assert set(finished.output.decode().splitlines()) == wanted


def test_tar_and_xz_with_threads(under: Under) -> None:
    tar, xz = needed("tar", "tar"), needed("xz", "xz-utils")
    source, copy = under.home / "source", under.home / "copy"
    copy.mkdir()
    for index in range(300):
        file = source / f"{index % 20}" / f"{index}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        chosen = random.Random(index)
        file.write_text("".join(f"{chosen.getrandbits(12)}\n" for _ in range(index * 8)))
    archive = under.home / "made.tar.xz"
    # Small blocks, so that two threads have something to do, and the best level's large tables.
    packer = f"--use-compress-program={xz} -T2 -1 --block-size=128KiB"
    packed = under.run([tar, packer, "-cf", archive, "-C", source, "."])
    assert {Path(process.exe).name for process in packed.processes} >= {"tar", "xz"}
    under.run([xz, "--test", "-T2", archive])
    under.run([tar, packer, "-xf", archive, "-C", copy])
    names = {file.relative_to(source) for file in source.rglob("*.txt")}
    assert {file.relative_to(copy) for file in copy.rglob("*.txt")} == names
    assert all((source / name).read_bytes() == (copy / name).read_bytes() for name in names)


def test_find_and_xargs_start_many_processes(under: Under) -> None:
    find, xargs = needed("find", "findutils"), needed("xargs", "findutils")
    folder = under.home / "files"
    folder.mkdir()
    wanted = set()
    for index in range(120):
        data = random.Random(index).randbytes(index * 100)
        (folder / f"{index}").write_bytes(data)
        wanted.add(f"{hashlib.sha256(data).hexdigest()}  ./{index}")
    script = f"{find} . -type f -print0 | {xargs} -0 -n 4 -P 4 sha256sum"
    finished = under.run([needed("bash", "bash"), "-c", script], cwd=folder)
    assert set(finished.output.decode().splitlines()) == wanted
    assert len(finished.processes) > 30


def test_bash_with_arrays_subshells_and_traps(under: Under) -> None:
    script = r"""
    set -euo pipefail
    declare -A count
    for i in {1..6000}; do count[k$((i % 700))]+="$i,"; done
    echo "${#count[@]} ${count[k13]}"
    s=; for i in {1..3000}; do s+=$(printf '%03d' $((i % 1000)))${s:0:1}; done; echo "${#s}"
    trap 'echo "caught"' USR1
    for i in {1..20}; do (kill -USR1 $$; exit 3) || [ $? = 3 ]; done
    seq 1 2000 | while read -r n; do echo $((n * n)); done | tail -n 1
    mapfile -t lines < <(seq 1 5000); echo "${#lines[@]} ${lines[4999]}"
    """
    lines = under.run([needed("bash", "bash"), "-c", script]).output.decode().splitlines()
    assert lines[0] == f"700 {''.join(f'{i},' for i in range(13, 6001, 700))}"
    assert lines[1] == str(3000 * 3 + 2999)
    assert lines[2:-2] == ["caught"] * (len(lines) - 4)
    assert lines[-2:] == ["4000000", "5000 5000"]
    assert len(lines) > 5

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every file: a licence, links that lead somewhere, one purpose."""

import gzip
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = {".hpp", ".cpp", ".c", ".h", ".py", ".rs", ".sh", ".toml", ".in"}
LONGEST = 600
ABSOLUTE = rb"(?:(?<![\w./-])|(?<=file://)|(?<=\s-[IL]))"
"""Before a path that begins at the root of the machine."""
REST = rb"[^\s\"'`<>)]*"
PRIVATE = re.compile(
    ABSOLUTE + rb"/(?:(?:root|work)/|(?:home|Users)/(?!(?:dev|me|somebody|user)\b)\w)" + REST
)
"""A path of a developer's machine. Examples and results have the neutral names of users."""
TEMPORARY = re.compile(ABSOLUTE + rb"/tmp/(?!heapwright-)\w[\w.-]*/" + REST)
"""A path in a temporary folder that the tool does not make."""
FOLDERS = (b"/root/", b"/work/", b"/home/", b"/Users/", b"/tmp/")
"""One of them is in each such path. A search for them is faster than the patterns."""


def tracked_files() -> list[Path]:
    """The files git tracks; in a tree without git, every file outside what is built."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode == 0:
        return [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    skipped = {"build", ".venv", ".git"}
    return [
        p for p in ROOT.rglob("*") if p.is_file() and not skipped & set(p.relative_to(ROOT).parts)
    ]


FILES = [file for file in tracked_files() if file.exists()]
SOURCES = [file for file in FILES if file.suffix in CODE]
PAGES = [file for file in FILES if file.suffix == ".md"]


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def test_there_is_something_to_check() -> None:
    assert len(SOURCES) > 50
    assert len(PAGES) > 5


def test_sources_state_their_licence() -> None:
    lines = (
        "SPDX-License-Identifier: Apache-2.0",
        "SPDX-FileCopyrightText: The Heapwright authors",
    )
    heads = {name(file): file.read_text(encoding="utf-8")[:400] for file in SOURCES}
    assert not [file for file, head in heads.items() if not all(line in head for line in lines)]


def test_sources_are_small() -> None:
    """A file has one idea. An idea may be long, so the limit only finds collections of ideas."""
    lines = {name(file): file.read_text(encoding="utf-8").count("\n") for file in SOURCES}
    assert {file: number for file, number in lines.items() if number > LONGEST} == {}


def test_links_of_pages_lead_somewhere() -> None:
    assert {name(page): broken for page in PAGES if (broken := broken_links(page))} == {}


def broken_links(page: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    return [each for each in targets if "://" not in each and not (page.parent / each).exists()]


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[this](page.md#part) [that](nowhere.md) ```[code](not-a-link.md)```")
    assert broken_links(page) == ["nowhere.md"]


def own_paths(file: Path, *, document: bool) -> set[bytes]:
    """The paths of the machine that a file was made on. Sources may name temporary folders."""
    content = file.read_bytes()
    content = gzip.decompress(content) if file.suffix == ".gz" else content
    if not any(folder in content for folder in FOLDERS):
        return set()
    found = PRIVATE.findall(content)
    return {*found, *TEMPORARY.findall(content)} if document else set(found)


def test_files_name_no_path_of_the_machine_they_were_made_on() -> None:
    files = [file for file in FILES if file.is_file() and file != Path(__file__)]
    documents = {file for file in files if file.is_relative_to(ROOT / "docs") or file in PAGES}
    assert len(documents) > 300
    found = {name(file): own_paths(file, document=file in documents) for file in files}
    assert {file: paths for file, paths in found.items() if paths} == {}


OWN = (
    "/root/.venv/lib.so",
    "/work/main",
    "/home/jane/project/a.c",
    "/Users/jane",
    "/tmp/wt/results",
    "/tmp/jane.1/x",
)
OTHERS = (
    "/proc/7/root/tmp/T",
    "/home/user/.venv/lib.so",
    "/home/me/mine.hpp",
    "/tmp/perf-7.map",
    "/tmp/heapwright-answers-h01_vowo/a",
    "/var/tmp/jane/x",
    "../work/a",
    "debian/tmp/usr/lib",
    "/rooted/a",
    "/workloads/larson",
    "/home/",
    "https://example.org/home/jane",
)


def test_a_path_of_the_machine_is_seen(tmp_path: Path) -> None:
    kept = tmp_path / "runs.json.gz"
    for path in OWN:
        for text in (f'{{"path":"{path}"}}', f"cc -I{path}", f"file://{path}", f"(`{path}`)"):
            kept.write_bytes(gzip.compress(text.encode()))
            assert own_paths(kept, document=True) == {path.encode()}, text


def test_other_paths_are_no_paths_of_the_machine(tmp_path: Path) -> None:
    kept = tmp_path / "page.md"
    kept.write_text("\n".join(f"a {path} `{path}` -o{path}" for path in OTHERS), encoding="utf-8")
    assert own_paths(kept, document=True) == set()


def test_a_source_may_name_a_temporary_folder(tmp_path: Path) -> None:
    source = tmp_path / "a.c"
    source.write_text('open("/tmp/objects/00", 0);', encoding="utf-8")
    assert own_paths(source, document=False) == set()
    assert own_paths(source, document=True) == {b"/tmp/objects/00"}

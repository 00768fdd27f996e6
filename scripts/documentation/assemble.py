# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Assemble the documentation site from written pages and from pages generated from the code.

    PYTHONPATH=scripts python -m documentation.assemble FOLDER

writes FOLDER/pages, the source of the site, and FOLDER/mkdocs.yml. Its navigation follows the
README of each part of docs/. `make site` builds the site from both.
"""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from documentation.allocators import allocator_pages
from documentation.api import c_pages, cpp_pages
from documentation.formats import format_pages
from documentation.gallery import PAGE as GALLERY
from documentation.gallery import gallery_page
from documentation.layers import layer_pages
from documentation.pages import (
    order_of,
    read,
    relink,
    title_of,
    with_links_to_pages,
    with_lists,
    with_states,
)
from documentation.verbs import verb_pages

ROOT = Path(__file__).resolve().parents[2]
ELSEWHERE = {
    "ARCHITECTURE.md": "explanation/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/README.md": "project/benchmarks.md",
    "native/drag/README.md": "project/drag.md",
    "native/kernelsim/LOAD.md": "reference/kernel-load-text.md",
    "native/synth/PLAN.md": "reference/synth-plan.md",
    "native/trace/FORMAT.md": "reference/trace-bytes.md",
    "native/valgrind/README.md": "project/valgrind.md",
    "patches/README.md": "project/patches.md",
    "tests/README.md": "project/tests.md",
}
"""Pages outside of docs/, and their places on the site."""
PARTS = ("tutorials", "how-to", "reference", "explanation", "decisions", "results")
PREFIXES = {
    "verbs": "heapwright ",
    "formats": "Format: ",
    "layers": "Layers: ",
    "c": "heapwright/c/",
}
"""Of titles in these folders of the reference, which the navigation leaves out."""
GENERATED = ("verbs", "formats", "layers", "allocators", "c", "cpp")


class Site:
    """The pages and other files of the site, by their paths on it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.pages: dict[str, str] = {}
        self.files: dict[str, Path] = {}
        self.places: dict[str, str] = {}

    def collect(self) -> None:
        """Read the written pages, generate the rest, and correct all links."""
        docs = self.root / "docs"
        for path in sorted(docs.rglob("*")):
            where = str(path.relative_to(docs))
            self.places[f"docs/{where}"] = f"{where}/README.md" if path.is_dir() else where
            if path.is_file() and path.suffix != ".md":
                self.files[where] = path
        for origin, where in ELSEWHERE.items():
            if (self.root / origin).exists():
                self.places[origin] = where
        for origin, where in self.places.items():
            if origin.endswith(".md"):
                text = relink(read(self.root / origin), origin, where, self.place)
                self.pages[where] = with_lists(with_states(text))
        self._generate()

    def _generate(self) -> None:
        include = self.root / "include"
        made = (
            verb_pages(self.root / "docs") | format_pages(self.root / "docs") | layer_pages(include)
        )
        made |= allocator_pages(self.root) | c_pages(include) | cpp_pages(include)
        for name, text in made.items():
            self.pages[name] = with_links_to_pages(text, name, self.places.values())
        for name in list(made):
            stem = name.removeprefix("reference/verbs/")
            manual = f"reference/{stem}"
            if name.startswith("reference/verbs/") and manual in self.pages and stem != "README.md":
                self.pages[manual] += (
                    f"\n## All options\n\n[All options of the verb](verbs/{stem})\n"
                )
        self.pages[GALLERY] = gallery_page()
        self.pages["README.md"] += (
            f"- [Charts and reports]({GALLERY}) are drawn from these results.\n"
        )
        for header in sorted((include / "heapwright").rglob("*.hpp")):
            self.files[f"sources/{header.relative_to(self.root)}.txt"] = header

    def place(self, path: str) -> str | None:
        """Where a path of the repository is on the site."""
        if path in self.places:
            return self.places[path]
        if (self.root / path).is_file():
            self.files[f"sources/{path}.txt"] = self.root / path
            return f"sources/{path}.txt"
        if not (self.root / path).exists():
            raise SystemExit(f"a page links to {path}, which does not exist")
        return None

    def navigation(self) -> list[Any]:
        """The home page, then each part in the order of its README."""
        listed: list[Any] = [{"Home": "README.md"}]
        for part in PARTS:
            entries: list[Any] = [f"{part}/README.md"]
            for heading, links in order_of(self.pages[f"{part}/README.md"]):
                pages = [self._entry(f"{part}/{link}") for link in links]
                entries += [{heading: pages}] if heading else pages
            if part == "reference":
                entries += [self._folder(f"reference/{name}") for name in GENERATED]
            if part == "results":
                entries.insert(1, self._entry(GALLERY))
            listed.append({title_of(self.pages[f"{part}/README.md"]): entries})
        project = [self._entry(name) for name in sorted(self.pages) if name.startswith("project/")]
        return [*listed, {"Project": project}]

    def _entry(self, name: str) -> dict[str, str]:
        if name not in self.pages:
            raise SystemExit(f"an index lists {name}, which is no page")
        title = title_of(self.pages[name])
        for folder, prefix in PREFIXES.items():
            if name.startswith(f"reference/{folder}/"):
                title = title.removeprefix(prefix).removesuffix(": options")
        return {title: name}

    def _folder(self, folder: str) -> dict[str, list[Any]]:
        index = f"{folder}/README.md"
        names = sorted(
            name for name in self.pages if name.startswith(f"{folder}/") and name.endswith(".md")
        )
        entries = [self._entry(name) for name in names if name != index]
        return {title_of(self.pages[index]): [index, *entries]}

    def write(self, folder: Path) -> None:
        """Write the source of the site and its settings."""
        pages = folder / "pages"
        if pages.exists():
            shutil.rmtree(pages)
        for name, text in self.pages.items():
            target = pages / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        for name, path in self.files.items():
            target = pages / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        settings = {
            "INHERIT": str(self.root / "mkdocs.yml"),
            "docs_dir": "pages",
            "site_dir": "html",
            "nav": self.navigation(),
        }
        (folder / "mkdocs.yml").write_text(json.dumps(settings, indent=1), encoding="utf-8")


def assemble(folder: Path, root: Path = ROOT) -> Site:
    """Assemble the site into a folder."""
    site = Site(root)
    site.collect()
    folder.mkdir(parents=True, exist_ok=True)
    site.write(folder)
    return site


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m documentation.assemble FOLDER")
    assemble(Path(sys.argv[1]))

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation site: every page has a place, every link a target, and no page a network."""

import json
import re
import shutil
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from documentation.assemble import PARTS, assemble
from documentation.comments import c_declarations, cpp_declarations, head_comment
from documentation.diagrams import diagrams
from documentation.gallery import STUDIES
from documentation.pages import relink, with_links_to_pages, with_lists, with_states
from documentation.verbs import help_text

from heapwright.artefacts.schemas import MODULES
from heapwright.cli.verbs import VERBS
from support.running import ran

from .layout import ROOT

AXE = """
<script>
addEventListener("load", () => setTimeout(async () => {
  const found = await axe.run();
  const serious = found.violations.filter((each) => ["serious", "critical"].includes(each.impact));
  const place = document.createElement("pre");
  place.id = "axe";
  place.textContent = JSON.stringify({
    passes: found.passes.length,
    violations: serious.map((each) => [each.id, each.nodes.slice(0, 3).map((node) => node.html)]),
  });
  document.body.append(place);
}, 1500));
</script>
"""
LOADED = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=["']?(?:https?:)?//""")


def names_of(entries: list[Any]) -> list[str]:
    """All pages of a navigation."""
    found: list[str] = []
    for entry in entries:
        value = entry if isinstance(entry, str) else next(iter(entry.values()))
        found += [value] if isinstance(value, str) else names_of(value)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("site")
    assemble(made)
    return made


def test_every_page_is_in_the_navigation_once(folder: Path) -> None:
    navigation = names_of(json.loads((folder / "mkdocs.yml").read_text("utf-8"))["nav"])
    pages = {str(path.relative_to(folder / "pages")) for path in folder.glob("pages/**/*.md")}
    assert sorted(navigation) == sorted(set(navigation))
    assert set(navigation) == pages


def test_each_part_of_the_code_has_a_page(folder: Path) -> None:
    reference = folder / "pages" / "reference"
    for verb in VERBS:
        page = (reference / "verbs" / f"{verb.name}.md").read_text("utf-8")
        assert "## Options" in page or "## Verbs" in page, verb.name
        assert "--help" in page, verb.name
    for name in MODULES:
        assert "| field | type |" in (reference / "formats" / f"{name}.md").read_text("utf-8")
        json.loads((reference / "formats" / f"{name}.schema.json").read_text("utf-8"))
    headers = {path.stem for path in (ROOT / "include/heapwright/c").glob("*.h")}
    assert {path.stem for path in (reference / "c").glob("*.md")} == headers | {"README"}
    listed = (reference / "layers" / "README.md").read_text("utf-8")
    assert "| [FreelistHeap](reuse.md#freelistheap) | reuse |" in listed
    granary = (reference / "allocators" / "granary.md").read_text("utf-8")
    assert "using Granary = ANSIWrapper<granary::HandlerSafe>;" in granary


def test_each_page_of_the_repository_is_listed_by_its_part() -> None:
    for part in PARTS:
        index = (ROOT / "docs" / part / "README.md").read_text("utf-8")
        found = {*(ROOT / "docs" / part).glob("*.md"), *(ROOT / "docs" / part).glob("*/README.md")}
        names = {str(path.relative_to(ROOT / "docs" / part)) for path in found} - {"README.md"}
        assert {name for name in names if f"({name})" not in index} == set(), part


def test_the_diagrams_are_those_of_the_program() -> None:
    folder = ROOT / "docs" / "diagrams"
    assert {path.name: path.read_text("utf-8") for path in folder.glob("*.svg")} == diagrams()


def test_each_page_of_results_names_its_command() -> None:
    command = re.compile(
        r"^(?:\S*heapwright |make |\S*python3? |cmake |scripts/|    heapwright |`pytest )", re.M
    )
    for page in sorted((ROOT / "docs" / "results").glob("*/README.md")):
        assert command.search(page.read_text("utf-8")), page


def test_each_decision_is_a_record() -> None:
    parts = ("\nDate: 20", "\n**Context.** ", "\n**Decision.**", "\n**Consequences.**")
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    lacking = {
        page.name: [part.strip() for part in parts if part not in page.read_text("utf-8")]
        for page in pages
        if page.name != "README.md"
    }
    assert len(lacking) > 20
    assert {name: parts for name, parts in lacking.items() if parts} == {}


def test_links_lead_to_the_places_on_the_site() -> None:
    places = {"docs/a/x.md": "a/x.md", "T.md": "project/t.md"}
    text = "[x](../a/x.md#top) and [t](../../T.md), ![p](../a/x.md), [code](../../src)\n"
    text += "```\n[x](y)\n```"
    made = relink(text, "docs/b/y.md", "b/y.md", places.get)
    assert "[x](../a/x.md#top) and [t](../project/t.md), ![p](../a/x.md)" in made
    assert "code (`src`)" in made
    assert "[x](y)" in made


def test_comments_that_name_a_page_lead_to_it() -> None:
    text = "See docs/a/x.md and docs/a/y.md.\n```\ndocs/a/x.md\n```"
    made = with_links_to_pages(text, "reference/c/z.md", {"a/x.md"})
    assert made == "See [x](../../a/x.md) and docs/a/y.md.\n```\ndocs/a/x.md\n```"


def test_lists_and_states_become_what_the_renderer_knows() -> None:
    assert (
        with_lists("Text:\n- one\n  more\n- two\n\nEnd") == "Text:\n\n- one\n    more\n- two\n\nEnd"
    )
    assert with_lists("```\nText:\n- one\n```") == "```\nText:\n- one\n```"
    states = "```mermaid\nstateDiagram-v2\n    [*] --> A\n    A --> B: signal\n```\n"
    made = with_states(states)
    assert "| *start or end* | - | A |" in made
    assert "| A | signal | B |" in made


def test_comments_of_headers_become_pages() -> None:
    head = "// SPDX-x\n//\n// Does this <T>.\n// Cost: a lock.\n//\n//   f(1);\n#pragma once\n"
    assert head_comment(head) == "Does this &lt;T&gt;.\n\n**Cost:** a lock.\n\n```cpp\nf(1);\n```\n"
    (found,) = c_declarations("/* head */\n\n/* Frees `it`. */\nvoid heapwright_x(void* it);\n")
    assert (found.name, found.code) == ("heapwright_x", "void heapwright_x(void* it);")
    (found,) = cpp_declarations("/// One.\ntemplate <class T>\nclass Lock {\n    int a;\n};\n")
    assert (found.name, found.code) == ("Lock", "template <class T>\nclass Lock")


def test_examples_of_a_help_text_keep_their_lines() -> None:
    made = help_text("Examples:\n  heapwright one -- <a>\n  heapwright two")
    assert made == "Examples:\n\n```sh\nheapwright one -- <a>\nheapwright two\n```\n"
    assert help_text("One\n<two>.") == "One &lt;two&gt;.\n"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, as a browser shows it."""
    made = tmp_path_factory.mktemp("built")
    done = ran([ROOT / "scripts" / "site.sh", made, sys.executable])
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return made / "html"


def shown(address: str, profile: Path, width: int = 1280) -> str:
    """What a page becomes in a browser."""
    browser = shutil.which("chromium") or pytest.skip("no browser (package chromium)")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000"]
    options += [f"--user-data-dir={profile}", f"--window-size={width},1000"]
    return ran([browser, *options, "--dump-dom", address], timeout=120).stdout


@pytest.mark.programs
def test_the_site_builds_without_warnings_and_needs_no_network(built: Path, tmp_path: Path) -> None:
    pages = list(built.rglob("*.html"))
    assert len(pages) > 200
    assert [page for page in pages if LOADED.search(page.read_text("utf-8"))] == []
    text = shown(f"file://{built}/index.html?q=quarantine", tmp_path)
    found = re.search(r"search-result__meta\">\s*(\d+) matching", text)
    assert found, text[-2000:]
    assert int(found[1]) > 0


@pytest.mark.programs
def test_the_gallery_has_a_chart_and_a_report_of_each_study(built: Path) -> None:
    reports = built / "results" / "reports"
    assert {path.stem for path in reports.glob("*.svg")} == set(STUDIES)
    assert {path.stem for path in reports.glob("*.html")} == {*STUDIES, "profile"}
    page = (built / "results" / "gallery.html").read_text("utf-8")
    for name in STUDIES:
        chart = (reports / f"{name}.svg").read_text("utf-8")
        levels = json.loads((ROOT / "docs/results" / name / "design.json").read_text("utf-8"))
        allocators = next(each for each in levels["factors"] if each["role"] == "allocator")
        assert len(re.findall('<path aria-label="', chart)) >= len(allocators["levels"]), name
        assert f'src="reports/{name}.svg"' in page
        assert f'href="reports/{name}.html"' in page


@pytest.mark.programs
@pytest.mark.parametrize("width", [500, 1280])
@pytest.mark.parametrize(
    "name", ["index", "results/gallery", "reference/granary", "results/reports/profile"]
)
def test_a_page_has_no_serious_finding_of_axe(
    built: Path, tmp_path: Path, name: str, width: int
) -> None:
    """axe-core checks contrast, names and structure as WCAG asks."""
    package = pytest.importorskip("axe_core_python", reason="no Python package axe-core-python")
    library = Path(package.__file__).with_name("axe.min.js").read_text("utf-8")
    text = (built / f"{name}.html").read_text("utf-8")
    whole, end, rest = text.rpartition("</body>")
    beside = (built / name).with_name(f"axe-{width}-{Path(name).name}.html")
    beside.write_text(f"{whole}<script>{library}</script>{AXE}{end}{rest}", "utf-8")
    try:
        found = re.findall(
            r'<pre id="axe">(.*?)</pre>', shown(beside.as_uri(), tmp_path, width), re.DOTALL
        )
    finally:
        beside.unlink()
    assert found, "axe did not end"
    report = json.loads(unescape(found[0]))
    assert report["passes"] > 10
    assert report["violations"] == []


@pytest.mark.programs
def test_a_wide_table_of_sentences_becomes_cards(tmp_path: Path) -> None:
    assets = ROOT / "docs" / "assets"
    heads = "".join(f"<th>{head}</th>" for head in ("", "task", "truth", "answer"))
    texts = (
        "1",
        "a leak on an error path of the parser",
        "400 blocks of 300 bytes",
        "Leak: 400 blocks, lost in parse_header",
    )
    tables = [
        f"<table><thead><tr>{heads}</tr></thead><tbody><tr>{cells}</tr></tbody></table>"
        for cells in (
            "".join(f"<td>{text}</td>" for text in texts),
            "<td>123,456,789,012</td>" * 4,
        )
    ]
    page = tmp_path / "page.html"
    page.write_text(
        f'<link rel="stylesheet" href="{assets.as_uri()}/site.css">'
        f'<script src="{assets.as_uri()}/tables.js"></script>'
        '<style>td { white-space: nowrap }</style><article style="width: 300px">'
        f'<div class="md-typeset">{"".join(tables)}</div></article>',
        "utf-8",
    )
    text = shown(page.as_uri(), tmp_path)
    assert re.findall(r"<table( data-cards)?", text) == [" data-cards", ""]
    assert re.findall(r'data-head="(.*?)"', text) == ["", "task", "truth", "answer"]

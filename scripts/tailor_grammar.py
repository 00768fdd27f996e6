# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference/tailor-grammar.md: the sentences of `heapwright tailor`, from the code.

    python scripts/tailor_grammar.py [--check]

Run it with the environment that has the tool, after a change of `heapwright.tailor.grammar` or of a
layer. The steps are those of the grammar. What a layer demands is read from its header. `--check`
writes nothing. Its exit status is 1 if the page is not up to date.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from heapwright.artefacts.composition.layers import Layer, Toolbox, read_toolbox
from heapwright.tailor.grammar import KIB, Core, Sentence, SiteHeap, Step
from heapwright.tailor.promises import PROMISES, promises_of
from heapwright.tailor.sites import Place, SiteKey

ROOT = Path(__file__).resolve().parents[1]
PAGE = Path("docs/reference/tailor-grammar.md")
TITLES: dict[Core, str] = {
    "lists": "lists: freed objects stay in their class",
    "fit": "fit: objects split and merge",
    "superblocks": "superblocks: each thread has a heap, with bounded blowup",
    "owner-caches": "caches: a cache for each thread",
}
SENTENCES: dict[Core, Sentence] = {
    "lists": Sentence("lists", "lists", 64 * KIB, classes=(32, 48, 65_552)),
    "fit": Sentence("fit", "fit", 128 * KIB),
    "superblocks": Sentence("superblocks", "superblocks", 8 * KIB),
    "owner-caches": Sentence("owner-caches", "caches", 16 * KIB),
}
SLOTS = {
    "pages": "whether 4 MiB are live at the peak",
    "chunk": "the peak of live bytes",
    "classes": "the histogram of sizes at the peak",
    "large": "the share of large requests",
    "depth": "the alternation of malloc and free",
    "threads": "the number of threads that allocate",
    "quick": "the share of small requests",
    "block": "a choice of sizes, which the replays judge",
    "slots": "the limit of large objects",
    "purge": "a choice of delays, which the replays judge",
    "brief-sites": "the lives of the objects of each call site",
    "brief-memory": "the objects of these call sites that live longer",
    "lasting-sites": "the lives of the objects of each call site",
    "lasting-memory": "the bytes of these call sites",
}
SITE = SiteKey(Place("program", "00ff", 0x1234), 32)
SITES = (SiteHeap("Lasting", (SITE,), 1024 * KIB), SiteHeap("Brief", (SITE,), 64))
SITES_HEAD = """## Call sites: heaps for long-lived and for short-lived objects

These steps stand above the others of any sentence. The step `Top` of the sentence is then `Others`.
A sentence has the first three, the last three, or all of them.
They race on the program itself, because a replay is the caller of each request.
"""
HEAD = """<!-- SPDX-FileCopyrightText: The Heapwright authors -->
<!-- SPDX-License-Identifier: Apache-2.0 -->

# The grammar of tailored allocators

[tailor](tailor.md) writes its proposals as sentences of this grammar. A sentence is a row of steps
from the memory of the system to the rules of C. Read this page to see what a proposal can be, and
why each one compiles.

```sh
python scripts/tailor_grammar.py   # writes this page
```

A layer states as a concept what it demands of the heap below it. The compiler refuses a step that
stands on another heap. [Architecture](../../ARCHITECTURE.md) has all layers and concepts. A test
compiles every sentence.
"""


def page(toolbox: Toolbox) -> str:
    """The whole page."""
    parts = [HEAD]
    for core, sentence in SENTENCES.items():
        parts.append(f"## {TITLES[core]}\n")
        wrapper = toolbox.layer("ANSIWrapper")
        last = f"| the allocator | `ANSIWrapper` | {_demands(wrapper)} |  |"
        parts += _table([*_rows(sentence.steps(), toolbox), last])
        parts += [f"{text}\n" for text in _variants(sentence)]
        parts.append(f"Mistakes with a promised end: {_list(PROMISES[core])}.\n")
    parts += [SITES_HEAD, *_sites(toolbox)]
    return "\n".join(parts).rstrip() + "\n"


def _table(rows: Iterable[str]) -> list[str]:
    head = "| step | layer or policy | demands | decided by |\n|---|---|---|---|"
    return [head, "\n".join(rows) + "\n"]


def _list(mistakes: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in mistakes)


def _sites(toolbox: Toolbox) -> Iterator[str]:
    """The steps of the heap for call sites, and what a program that misuses its heap loses."""
    sentence = SENTENCES["superblocks"]
    steps = list(replace(sentence, sites=SITES).steps())
    yield from _table(_rows(steps[len(list(sentence.steps())) :], toolbox))
    left = promises_of(replace(sentence, sites=SITES))
    lost = [each for each in promises_of(sentence) if each not in left]
    yield f"Mistakes whose end is then no longer promised: {_list(lost)}.\n"


def _rows(steps: Iterable[Step], toolbox: Toolbox) -> Iterator[str]:
    for step in steps:
        if step.keyword == "struct" and step.type == "{}":
            continue  # a name alone
        layer = _layer(step, toolbox)
        demands = "" if layer is None else _demands(layer)
        shown = layer.name if layer else step.type.partition("<")[0].partition("{")[0].strip()
        what = f"`{shown}`" if shown else "a policy"
        yield f"| {step.name} | {what} | {demands} | {SLOTS[step.slot] if step.slot else ''} |"


def _layer(step: Step, toolbox: Toolbox) -> Layer | None:
    """The outermost layer of the step that is known, such as that in `UniqueHeap`."""
    for name in re.findall(r"\w+", step.type):
        if (found := toolbox.find(name)) is not None and found.is_heap:
            return found
    return None


def _demands(layer: Layer) -> str:
    """What the heaps below a layer must be."""
    concepts = [f"`{each.concept}`" for each in layer.parameters if each.is_heap]
    more = re.findall(r"\b([A-Z]\w*Heap)<", layer.requires)
    extra = [f"`{each}`" for each in dict.fromkeys(more) if f"`{each}`" not in concepts]
    return ", ".join((*dict.fromkeys(concepts), *extra))


def _variants(sentence: Sentence) -> Iterator[str]:
    """The steps that differ with several threads and on huge pages."""
    plain = {step.name: step for step in sentence.steps()}
    changes = {
        "With several threads": replace(sentence, threads=True),
        "On huge pages": replace(sentence, huge_pages=True, chunk=2048 * KIB),
    }
    for when, changed in changes.items():
        if sentence.core == "fit":
            continue  # it is proposed for one thread on pages of 4 KiB alone
        steps = {step.name: step for step in changed.steps()}
        different = [f"`{name}`" for name, step in steps.items() if plain.get(name) != step]
        left = [f"`{name}`" for name in plain if name not in steps]
        if different or left:
            gone = f"; {', '.join(left)} is left out" if left else ""
            yield f"{when}, these steps differ: {', '.join(different)}{gone}."


def main() -> int:
    text = page(read_toolbox(ROOT / "include"))
    if "--check" in sys.argv[1:]:
        current = (ROOT / PAGE).read_text(encoding="utf-8") if (ROOT / PAGE).exists() else ""
        if current != text:
            sys.stderr.write(f"{PAGE} is not up to date: python scripts/tailor_grammar.py\n")
        return int(current != text)
    (ROOT / PAGE).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

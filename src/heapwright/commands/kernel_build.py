# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright kernel build`, and finding kernels for the verbs that boot them."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.spelling import nearest
from heapwright.commands.text import printing
from heapwright.kernel.build import ROOM as BUILD_ROOM
from heapwright.kernel.build import Plan, build, plan
from heapwright.kernel.folders import ALLOCATORS, kernel_cache, need_room
from heapwright.kernel.image_cache import Built, document, every, find
from heapwright.kernel.source import ROOM as SOURCE_ROOM
from heapwright.kernel.source import find_source, folder_of, remove_unpacked


def parse_allocators(text: str) -> tuple[str, ...]:
    """Read names separated by commas. Raises HeapwrightError for an unknown name."""
    names = tuple(dict.fromkeys(each.strip() for each in text.split(",") if each.strip()))
    for name in names:
        if name not in ALLOCATORS:
            raise HeapwrightError(
                f"no kernel can be built with {name!r}",
                nearest(name, ALLOCATORS) or f"there are: {', '.join(ALLOCATORS)}",
            )
    if not names:
        raise HeapwrightError("no allocator is named", f"there are: {', '.join(ALLOCATORS)}")
    return names


def build_kernels(
    allocators: str, jobs: int | None, *, again: bool, keep_source: bool, as_json: bool
) -> None:
    """Raises HeapwrightError if a kernel cannot be built. Earlier ones are in the cache."""
    cache = kernel_cache(os.environ)
    names = parse_allocators(allocators)
    many = jobs or len(os.sched_getaffinity(0))
    made = made_kernels(names, cache, many, again=again, keep_source=keep_source)
    with printing():
        if as_json:
            typer.echo(json.dumps([document(each) for each in made], indent=2))
            return
        for each in made:
            typer.echo(f"{each.allocator}: {each.image}")


def made_kernels(
    names: Sequence[str], cache: Path, jobs: int, *, again: bool = False, keep_source: bool = False
) -> list[Built]:
    """The kernels; missing ones are built. Raises HeapwrightError."""
    source = find_source()
    plans = [plan(name, source) for name in names]
    there = {} if again else {each.key: find(each.key, cache) for each in plans}
    need_room_of([each for each in plans if not there.get(each.key)], cache)
    made = [there.get(each.key) or build(each, cache, jobs, _say) for each in plans]
    if not keep_source:
        for folder in remove_unpacked(source, cache):
            _say(f"removed {folder}")
    return made


def need_room_of(missing: Sequence[Plan], cache: Path) -> None:
    """Raises HeapwrightError before the first build if the disk cannot hold what all of them need:
    each unpacked source, and the folder of one build."""
    if missing:
        folders = {folder_of(each.source, cache, *each.patches) for each in missing}
        sources = sum(not folder.is_dir() for folder in folders)
        purpose = "building a kernel" if len(missing) == 1 else f"building {len(missing)} kernels"
        need_room(cache, sources * SOURCE_ROOM + BUILD_ROOM, purpose)


def cached_kernel(name: str, cache: Path) -> Built:
    """An existing kernel: of this source and configuration, else of another version.

    Raises HeapwrightError with the command that builds one.
    """
    (name,) = parse_allocators(name)
    try:
        key = plan(name, find_source()).key
    except HeapwrightError:
        key = ""
    there = [each for each in every(cache) if each.allocator == name]
    exact = [each for each in there if each.key == key]
    if found := exact or ([] if key else there):
        return found[0]
    raise HeapwrightError(
        f"there is no {name} kernel in {cache / 'built'}",
        f"heapwright kernel build -a {name}   (four to seven minutes on two quiet processors)",
        exit_code=ExitCode.NOTHING_COMPARED,
    )


def _say(text: str) -> None:
    print(f"kernel: {text}", file=sys.stderr)  # noqa: T201

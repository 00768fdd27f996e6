# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The memory of small processes under granary: pages of objects, and pages of the library."""

import json
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from heapwright.base import native

from .building import compiled, environment
from .conftest import preloaded

WINDOW = 64 << 10  # The kernel maps this much of a file around a touched page.
SIZES = 50


@pytest.fixture(scope="module")
def resident(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/resident.c, compiled."""
    return compiled(tmp_path_factory.mktemp("resident"), "resident.c")


def measured(program: Path, allocator: str, objects: int) -> dict[str, int]:
    done = subprocess.run(
        [program, str(SIZES), str(objects)],
        env=preloaded(allocator),
        capture_output=True,
        text=True,
        check=True,
    )
    figures: dict[str, int] = json.loads(done.stdout)
    return figures


def test_a_seldom_used_size_class_touches_no_page(granary: str, resident: Path) -> None:
    # A page for each of the 50 classes would be 200 KiB, before any further object.
    assert measured(resident, granary, objects=1)["objects"] < 160


def test_frequent_code_and_constants_are_at_the_start_of_the_library(granary: str) -> None:
    with native.library(granary).open("rb") as file:
        elf = ELFFile(file)
        loaded = [each for each in elf.iter_segments() if each["p_type"] == "PT_LOAD"]
        assert all(each["p_align"] % WINDOW == 0 for each in loaded)
        ends = {
            name: section["sh_addr"] + section["sh_size"]
            for name in (".rela.dyn", ".text", ".text.once", ".rodata")
            if (section := elf.get_section_by_name(name)) is not None
        }
    assert len(ends) == 4
    late = {name: end - WINDOW for name, end in ends.items() if end > WINDOW}
    assert not late, f"move code that seldom runs to .text.rare in text_order.ld: {late}"


def test_a_small_process_touches_one_window_of_the_library(granary: str, resident: Path) -> None:
    # One window, and two pages of variables in the file.
    library = measured(resident, granary, objects=1)["library"]
    assert 0 < library <= (WINDOW >> 10) + 8


def test_a_process_without_requests_needs_at_most_128_kib_more(
    granary: str, tmp_path: Path
) -> None:
    idle = compiled(tmp_path, "idle.c")
    without, with_library = (
        int(subprocess.run([idle], env=each, capture_output=True, text=True, check=True).stdout)
        for each in (environment(), preloaded(granary))
    )
    assert 0 < without < with_library
    assert with_library - without <= 128

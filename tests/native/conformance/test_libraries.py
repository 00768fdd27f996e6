# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The project's libraries as files: their requirements, their exported names, and their statements
about themselves.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from elftools.elf.dynamic import DynamicSection
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

import heapwright
from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.base import native

ROOT = Path(__file__).parents[3]
CATALOGUE = read_catalogue(ROOT / "catalogue" / "allocators.toml")
# What was part of another library once is part of the C library now.
PARTS_OF_THE_C_LIBRARY = {"libc.so.6", "libdl.so.2", "libpthread.so.0"}
ASK = """
from ctypes import CDLL, c_char_p
describe = CDLL(None).heapwright_describe
describe.restype = c_char_p
print(describe().decode())
"""
# Of granary with samples (native/sampled/), which is no allocator of the catalogue.
OF_SAMPLES = {"dlclose", "_exit", "_Exit", "heapwright_sampler_label"}
PROCESSORS_WITH_DLOPEN = {"EM_X86_64", "EM_AARCH64"}


@pytest.fixture(params=[entry.name for entry in CATALOGUE.composed])
def name(request: pytest.FixtureRequest) -> str:
    assert isinstance(request.param, str)
    return request.param


def dynamic_tags(name: str) -> dict[str, list[object]]:
    with native.library(name).open("rb") as file:
        section = ELFFile(file).get_section_by_name(".dynamic")
        assert isinstance(section, DynamicSection)
        tags: dict[str, list[object]] = {}
        for tag in section.iter_tags():
            value = getattr(tag, "needed", tag.entry.d_val)
            tags.setdefault(tag.entry.d_tag, []).append(value)
        return tags


def test_needs_the_c_library_alone(name: str) -> None:
    needed = dynamic_tags(name)["DT_NEEDED"]
    assert "libc.so.6" in needed
    assert set(needed) <= PARTS_OF_THE_C_LIBRARY


def test_is_first_to_start_and_never_unloaded(name: str) -> None:
    now, nodelete, initfirst, static_tls = 0x1, 0x8, 0x20, 0x10
    tags = dynamic_tags(name)
    assert tags["DT_FLAGS_1"] == [now | nodelete | initfirst]
    # Variables of a thread in the initial-exec model, and no relocation in the code.
    assert isinstance(tags["DT_FLAGS"][0], int)
    assert tags["DT_FLAGS"][0] & static_tls
    assert "DT_TEXTREL" not in tags


def of_others(name: str) -> set[str]:
    """The symbols that only libraries have whose catalogue entry asks for more than this one's."""
    template = (ROOT / "native" / "preload" / "library.cpp.in").read_text(encoding="utf-8")
    entry = next(each for each in CATALOGUE.composed if each.name == name)
    own = {*re.findall(r"entry_points/(\w+)\.inc", template), *entry.entry_points}
    words: dict[bool, set[str]] = {True: {"dlopen", "dlmopen"}, False: set()}
    for points in (ROOT / "native" / "preload" / "entry_points").glob("*.inc"):
        words[points.stem in own].update(re.findall(r"\w+", points.read_text(encoding="utf-8")))
    return words[False] - words[True]


def shown(name: str) -> set[str]:
    """The symbols that a library exports."""
    with native.library(name).open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym")
        assert isinstance(symbols, SymbolTableSection)
        return {
            symbol.name for symbol in symbols.iter_symbols() if symbol.entry.st_shndx != "SHN_UNDEF"
        }


def test_shows_the_entry_points_and_nothing_else(name: str) -> None:
    text = (ROOT / "native" / "preload" / "exports.map").read_text(encoding="utf-8")
    listed = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    listed = listed.partition("global:")[2].partition("local:")[0]
    wanted = set(re.findall(r"\w+", listed)) - of_others(name) - OF_SAMPLES
    with native.library(name).open("rb") as file:
        if ELFFile(file)["e_machine"] not in PROCESSORS_WITH_DLOPEN:
            wanted -= {"dlopen", "dlmopen"}
    assert shown(name) == wanted


def test_samples_add_their_own_entry_points_to_those_of_granary() -> None:
    assert shown("granary-sampled") == shown("granary") | OF_SAMPLES


def test_describes_itself(name: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", ASK],
        env=os.environ | {"LD_PRELOAD": str(native.library(name))},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    description = json.loads(told)
    assert description["name"] == name
    assert description["version"] == heapwright.__version__
    assert description["composition"]["layer"] == "ANSIWrapper"
    assert description["composition"]["below"]

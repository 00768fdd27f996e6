# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Each setting of the catalogue reaches the installed library, by the library's own report.

glibc's loader lists tunables with their values. jemalloc and mimalloc print their options. TCMalloc
returns properties. granary and jemalloc report what they do not understand. Of the other settings
the library must contain the name of the variable.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.settings import (
    DEFAULT,
    AllocatorSetting,
    settings_of,
    variables_of,
)
from heapwright.artefacts.run.provenance import Allocator
from heapwright.base.native import NativeMissingError
from heapwright.commands.setup import select_one
from heapwright.experiment.preload import PreloadPaths

LOADER = Path("/lib64/ld-linux-x86-64.so.2")
PACKAGES = {
    "jemalloc": "libjemalloc2",
    "mimalloc": "libmimalloc2.0",
    "tcmalloc": "libtcmalloc-minimal4",
    "tbbmalloc": "libtbbmalloc2",
}
PROPERTY = """
import ctypes, sys
value = ctypes.c_size_t()
get = ctypes.CDLL(None).MallocExtension_GetNumericProperty
print(value.value if get(sys.argv[1].encode(), ctypes.byref(value)) else "unknown")
"""
PROPERTIES = {
    "max_total_thread_cache_bytes": "tcmalloc.max_total_thread_cache_bytes",
    "aggressive_decommit": "tcmalloc.aggressive_memory_decommit",
}
PLAIN = {"PATH": os.environ["PATH"], "LC_ALL": "C"}


def allocator(name: str) -> Allocator:
    """The installed allocator, or a skip that names its package."""
    try:
        with PreloadPaths() as paths:
            (found,) = select_one(name, PLAIN, paths).allocators
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    if not found.usable:
        pytest.skip(f"{name} is not installed (package {PACKAGES.get(name, name)})")
    return found


def cases(name: str) -> Iterator[tuple[AllocatorSetting, str]]:
    """Each level of each setting, those outside of the grid too, with the setting."""
    found = allocator(name)
    for setting in settings_of(name, found.version):
        for level in (*setting.levels, *(text for text, _ in setting.finer_levels())):
            if level != DEFAULT:
                yield setting, level


def output(name: str, variables: Mapping[str, str], *words: str) -> str:
    """What a command prints with the library and these variables."""
    path = allocator(name).path
    preload = {"LD_PRELOAD": path} if path else {}
    done = subprocess.run(
        words or ("true",),
        env={**PLAIN, **variables, **preload},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout + done.stderr


def test_glibc_lists_each_setting_with_its_value() -> None:
    if not LOADER.exists():
        pytest.skip(f"there is no {LOADER} (package libc6 of amd64)")
    for setting, level in cases("glibc"):
        values = variables_of([setting], [level], {})
        listed = output("glibc", values, str(LOADER), "--list-tunables")
        match = re.search(rf"^{re.escape(setting.key)}: (\S+)", listed, re.MULTILINE)
        assert match, setting.name
        assert int(match[1], 0) == int(level), setting.name


def test_jemalloc_reports_each_option() -> None:
    for setting, level in cases("jemalloc"):
        own = {"MALLOC_CONF": "stats_print:true,stats_print_opts:Jmdablxeh"}
        printed = output("jemalloc", variables_of([setting], [level], own))
        assert "Invalid" not in printed
        options = json.loads(printed)["jemalloc"]["opt"]
        found = options[setting.key]
        assert (json.dumps(found) if not isinstance(found, str) else found) == level, setting.name


def test_mimalloc_reports_each_option() -> None:
    for setting, level in cases("mimalloc"):
        values = variables_of([setting], [level], {})
        printed = output("mimalloc", {"MIMALLOC_VERBOSE": "1", **values})
        assert f"option '{setting.name}': {level}\n" in printed, setting.name


def test_tcmalloc_has_each_property_or_variable() -> None:
    path = allocator("tcmalloc").path
    assert path is not None
    content = Path(path).read_bytes()
    for setting, level in cases("tcmalloc"):
        assert setting.variable.encode() in content
        if setting.name in PROPERTIES:
            values = variables_of([setting], [level], {})
            name = PROPERTIES[setting.name]
            printed = output("tcmalloc", values, sys.executable, "-S", "-c", PROPERTY, name)
            assert printed.strip() == {"true": "1"}.get(level, level), setting.name


def test_tbbmalloc_has_each_variable() -> None:
    proxy = allocator("tbbmalloc").path
    assert proxy is not None
    (library,) = (Path(proxy).parent / "libtbbmalloc.so.2",)
    for setting, level in cases("tbbmalloc"):
        assert setting.variable.encode() in library.read_bytes()
        if setting.name == "use_huge_pages":
            values = {"TBB_VERSION": "1", **variables_of([setting], [level], {})}
            assert re.search(r"huge pages\s+requested", output("tbbmalloc", values))


def test_granary_understands_each_value_and_reports_another() -> None:
    for setting, level in cases("granary"):
        assert output("granary", variables_of([setting], [level], {})) == "", setting.name
        wrong = output("granary", variables_of([setting], ["maybe"], {}))
        assert f"{setting.key} cannot be 'maybe'" in wrong

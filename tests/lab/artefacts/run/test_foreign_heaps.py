# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runtimes that keep a heap of their own are recognised by name and by what they have mapped."""

import pytest

from heapwright.artefacts.run.foreign_heaps import (
    FOREIGN_HEAPS,
    foreign_heap_named,
    foreign_heap_of,
    is_opened,
)


@pytest.mark.parametrize(
    ("executable", "runtime"),
    [
        ("/usr/bin/python3.11", "CPython"),
        ("python3", "CPython"),
        ("/usr/bin/node", "Node.js"),
        ("/usr/lib/jvm/java-17/bin/java", "Java"),
        ("/usr/bin/dotnet", ".NET"),
        ("/usr/bin/ruby3.1", "Ruby"),
        ("/usr/bin/php8.2", "PHP"),
        ("/usr/sbin/php-fpm8.2", "PHP"),
        ("/usr/lib/erlang/erts-13/bin/beam.smp", "Erlang"),
        ("/usr/lib/chromium/chromium", "Chromium"),
        ("/opt/google/chrome/chrome", "Chromium"),
        ("/usr/lib/firefox-esr/firefox-esr", "Firefox"),
    ],
)
def test_a_runtime_is_known_by_its_name(executable: str, runtime: str) -> None:
    found = foreign_heap_of(executable)
    assert found is not None
    assert found.runtime == runtime


@pytest.mark.parametrize(
    ("library", "runtime"),
    [
        ("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0", "CPython"),
        ("/usr/lib/jvm/java-17/lib/server/libjvm.so", "Java"),
        ("/usr/lib/x86_64-linux-gnu/libnode.so.108", "Node.js"),
        ("/usr/lib/x86_64-linux-gnu/libruby-3.1.so.3.1", "Ruby"),
        ("/usr/share/dotnet/libcoreclr.so", ".NET"),
        ("/usr/lib/firefox/libxul.so", "Firefox"),
    ],
)
def test_an_embedded_runtime_is_known_by_its_library(library: str, runtime: str) -> None:
    found = foreign_heap_of("/opt/app/server", ("/usr/lib/libc.so.6", library))
    assert found is not None
    assert found.runtime == runtime


@pytest.mark.parametrize("name", ["server", "nodes", "javascript-lint", "pythonic", "perl", "gojq"])
def test_other_programs_are_not_taken_for_a_runtime(name: str) -> None:
    assert foreign_heap_of(f"/usr/bin/{name}", ("/usr/lib/libc.so.6",)) is None


def test_the_variable_that_opens_a_heap_is_respected() -> None:
    python = foreign_heap_named("CPython")
    assert python is not None
    assert is_opened(python, {"PYTHONMALLOC": "malloc"})
    assert is_opened(python, {"PYTHONMALLOC": "malloc_debug"})
    assert not is_opened(python, {"PYTHONMALLOC": "pymalloc"})
    assert not is_opened(python, {})


def test_each_runtime_is_listed_once_with_its_advice() -> None:
    names = [each.runtime for each in FOREIGN_HEAPS]
    assert len(names) == len(set(names))
    assert all(each.advice and (each.executables or each.libraries) for each in FOREIGN_HEAPS)

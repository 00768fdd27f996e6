# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Files of other tools with call stacks and amounts of memory, recognised by their first bytes."""

import gzip
import shutil
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from heapwright.artefacts.stacks import gperftools, heaptrack, jemalloc, massif, pprof, sampler
from heapwright.artefacts.stacks.profile import Amount, StackProfile
from heapwright.artefacts.stacks.text import Lines, damaged
from heapwright.base.errors import HeapwrightError

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
LARGEST_MESSAGE = 1 << 30
LARGEST_TOTAL = 1 << 63
PEEKED = 64
OPENINGS = {
    massif.OPENING: massif.SOURCE,
    jemalloc.OPENING: jemalloc.SOURCE,
    gperftools.OPENING: gperftools.SOURCE,
    heaptrack.OPENING: heaptrack.SOURCE,
    sampler.OPENING: sampler.SOURCE,
}
READERS = {
    massif.SOURCE: massif.read_massif,
    jemalloc.SOURCE: jemalloc.read_jemalloc,
    gperftools.SOURCE: gperftools.read_gperftools,
    sampler.SOURCE: sampler.read_samples,
}
"""Those that read the lines of a file once."""


def tool_of(path: Path) -> str | None:
    """The tool that wrote a file; None if it is of none of these formats. Raises
    HeapwrightError."""
    try:
        with path.open("rb") as file:
            begin = file.read(PEEKED)
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be read: {error.strerror or error}") from error
    if begin.startswith(ZSTD):
        return heaptrack.SOURCE
    if begin.startswith(GZIP):
        with _opened(path) as file:
            begin = file.read(PEEKED)
        return _text_tool(begin) or pprof.SOURCE
    return _text_tool(begin) or (pprof.SOURCE if _is_message(begin) else None)


def _text_tool(begin: bytes) -> str | None:
    return next((name for opening, name in OPENINGS.items() if begin.startswith(opening)), None)


def _is_message(begin: bytes) -> bool:
    """Whether it begins as a message `Profile` that was not compressed: a sample type with two
    numbers of strings."""
    return (
        len(begin) > 2
        and begin[:1] == b"\x0a"
        and begin[1:2] in b"\x02\x04\x05\x06"
        and begin[2:3] in b"\x08\x10"
    )


def read_stacks(path: Path) -> StackProfile:
    """The call stacks of a file that `tool_of` knows. Raises HeapwrightError."""
    tool = tool_of(path)
    if tool is None or not path.is_file():
        raise HeapwrightError(f"{path} is no file of a known tool")
    if tool == heaptrack.SOURCE:
        found = heaptrack.read_heaptrack(lambda: _lines(path))
    elif tool == pprof.SOURCE:
        found = pprof.read_pprof(str(path), _content(path))
    else:
        with _lines(path) as lines:
            found = READERS[tool](lines)
    if any(found.total(amount) >= LARGEST_TOTAL for amount in Amount):
        raise damaged(str(path), "its amounts add up to more than any memory")
    return found


@contextmanager
def _lines(path: Path) -> Iterator[Lines]:
    with _opened(path) as file:
        yield Lines(str(path), file)


def _content(path: Path) -> bytes:
    with _opened(path) as file:
        content = file.read(LARGEST_MESSAGE + 1)
    if len(content) > LARGEST_MESSAGE:
        raise HeapwrightError(
            f"{path} has more than {LARGEST_MESSAGE:,} bytes", "larger profiles cannot be read"
        )
    return content


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file, decompressed while it is read."""
    try:
        with path.open("rb") as file:
            begin = file.read(len(ZSTD))
            file.seek(0)
            if begin == ZSTD:
                with _zstd(path) as text:
                    yield text
            elif begin.startswith(GZIP):
                with gzip.open(file) as text:
                    yield cast(BinaryIO, text)
            else:
                yield file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise damaged(str(path), f"it cannot be decompressed: {error}") from error
    except OSError as error:
        raise HeapwrightError(f"{path} cannot be read: {error.strerror or error}") from error


@contextmanager
def _zstd(path: Path) -> Iterator[BinaryIO]:
    program = shutil.which("zstd")
    if program is None:
        raise HeapwrightError(
            f"{path} is compressed by zstd, which is not installed",
            "install Debian's package zstd, or decompress the file elsewhere",
        )
    with subprocess.Popen(
        [program, "-dcq", "--", str(path.absolute())],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        refusal = None
        try:
            yield cast(BinaryIO, process.stdout)
        except HeapwrightError as error:
            refusal = error
        if process.stdout.read(1):  # the reader needed no more
            process.kill()
            said = ""
        else:
            said = process.stderr.read().decode("utf-8", "replace").strip()
    if said:
        raise damaged(
            str(path), f"it cannot be decompressed: {said.rpartition(' : ')[2]}"
        ) from refusal
    if refusal is not None:
        raise refusal

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Libraries of compositions that exist only for measurements."""

import os
import shutil
from pathlib import Path

from heapwright.artefacts.allocator.catalogue import ComposedAllocator
from heapwright.base import native
from heapwright.compose.compiler import find_compiler
from heapwright.compose.library import build_library


def build(header: Path, composed: str, name: str, folder: Path) -> Path:
    """The library `name` of one type of a header, made in `folder` as `heapwright compose` does.

    Raises RuntimeError with what the compiler says.
    """
    shutil.copy(header, folder)
    compiler = find_compiler(None, os.environ, folder)
    installed = native.native_dir()
    compiler.include = (installed / "include", installed, folder)
    entry = ComposedAllocator(name, header.name, composed, "")
    library, answer = build_library(compiler, installed, folder, entry)
    if not answer.valid:
        raise RuntimeError(f"{composed} does not compile:\n{answer.pages}")
    return library

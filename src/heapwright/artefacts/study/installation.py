# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the templates of a study can name of this installation: folders, and an interpreter.

`lacking` says what of a level's `needs` is not on this machine.
"""

import os
import shutil
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from heapwright.artefacts.study.template import FOLDER, NATIVE, PYTHON
from heapwright.base.native import native_dir

MODULE = "python:"
"""Begins a need that is a module of heapwright's own interpreter."""


def places_here(folder: Path) -> dict[str, str | Callable[[], str]]:
    """`folder` is that of the study file. The compiled parts are looked for where they are named:
    most studies can be read without them."""
    return {
        FOLDER: str(folder),
        NATIVE: lambda: str(native_dir()),
        PYTHON: sys.executable or "python3",
    }


def lacking(need: str, folder: Path) -> str:
    """Why a level cannot be had that needs this program, path or module; empty if it can."""
    if need.startswith(MODULE):
        name = need.removeprefix(MODULE)
        found = all(map(str.isidentifier, name.split("."))) and _has_module(name)
        return "" if found else f"there is no Python module {name}"
    if os.sep in need:
        path = folder / need
        return "" if path.exists() else f"there is no {path}"
    return "" if shutil.which(need) else f"there is no program {need}"


def _has_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False

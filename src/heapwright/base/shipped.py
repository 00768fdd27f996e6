# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The folders of files that come with heapwright.

They are installed with the compiled parts. A tool may run from the source tree with compiled parts
that have none. It then takes those of the tree.
"""

from pathlib import Path

from heapwright.base.native import NativeMissingError, native_dir
from heapwright.base.paths import is_file, is_folder

TREE = Path(__file__).resolve().parents[3]


def shipped_folder(name: str, what: str, in_tree: str | None = None) -> Path:
    """The folder `name` that comes with heapwright; in the source tree it may be called otherwise.

    `what` says what is in it. Raises NativeMissingError if it is nowhere.
    """
    places = [TREE / (in_tree or name)] if is_file(TREE / "pyproject.toml") else []
    try:
        places.insert(0, native_dir() / name)
    except NativeMissingError:
        if not places:
            raise
    for place in places:
        if is_folder(place):
            return place
    raise NativeMissingError(f"there are no {what} in {places[0]}", "build and install again")

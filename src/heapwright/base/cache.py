# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The cache folder of the user, and texts in it that would take long to make again."""

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path


def cache_home(environment: Mapping[str, str]) -> Path:
    """$XDG_CACHE_HOME/heapwright, or ~/.cache/heapwright; it need not exist."""
    named = environment.get("XDG_CACHE_HOME", "")
    if named and Path(named).is_absolute():  # the specification ignores others
        return Path(named) / "heapwright"
    return Path(environment.get("HOME") or Path.home()) / ".cache" / "heapwright"


def cached(folder: Path, key: str, make: Callable[[], str]) -> str:
    """The text that `make` returns for `key`, from a file of `folder` if it was made before.

    A folder that cannot be written to is no error: the text is made each time.
    """
    path = folder / hashlib.sha256(key.encode()).hexdigest()[:32]
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8")
    text = make()
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except OSError:
            Path(name).unlink()
    return text

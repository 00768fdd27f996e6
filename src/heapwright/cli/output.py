# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Files that results are written to: tried before the runs, written whole or not at all.

An hour of measuring must not end in "permission denied", so a destination is tried first. The
result is then written beside its destination and moved over it, so that a full disk or a kill never
leaves half a file, nor destroys an older result. `-` is standard output; a device is written to
directly, because it cannot be replaced.
"""

import contextlib
import os
import stat
import sys
import tempfile
from pathlib import Path

from heapwright.artefacts.errors import ExitCode, HeapwrightError

STANDARD_OUTPUT = "-"


class Destination:
    """Where one result goes."""

    def __init__(self, text: str, option: str) -> None:
        """Try the destination; raises HeapwrightError if nothing could be written there."""
        self.text = text
        self._option = option
        self._path: Path | None = None
        if text != STANDARD_OUTPUT:
            self._path = Path(os.path.realpath(text))
            try:
                self._try(self._path)
            except OSError as error:
                raise HeapwrightError(
                    f"{option} {text} cannot be written: {error.strerror or error}",
                    "nothing was run; choose another file or folder",
                ) from error

    @property
    def is_standard_output(self) -> bool:
        return self._path is None

    @property
    def path(self) -> Path | None:
        return self._path

    def write(self, content: str) -> None:
        """Write the whole result. Raises HeapwrightError; an older result is then still there."""
        data = content.encode("utf-8", "backslashreplace")
        try:
            if self._path is None:
                sys.stdout.flush()
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            elif _replaceable(self._path):
                _replace(self._path, data)
            else:
                self._path.write_bytes(data)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise HeapwrightError(
                f"{self._option} {self.text} could not be written: {error.strerror or error}",
                exit_code=ExitCode.NOT_WRITTEN,
            ) from error

    @staticmethod
    def _try(path: Path) -> None:
        if path.is_dir():
            raise IsADirectoryError(0, "it is a folder")
        if not path.parent.is_dir():
            raise NotADirectoryError(0, f"there is no folder {path.parent}")
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(0, "it may not be written to")
        if _replaceable(path):
            descriptor, name = _beside(path)
            os.close(descriptor)
            Path(name).unlink()
        elif not path.exists():
            raise PermissionError(0, f"nothing can be made in {path.parent}")


def _replaceable(path: Path) -> bool:
    """Whether a new file can be moved over `path`: no device, and a folder we may write to."""
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        return False
    return not path.exists() or os.access(path.parent, os.W_OK | os.X_OK)


def _beside(path: Path) -> tuple[int, str]:
    return tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".tmp", dir=path.parent)


def _replace(path: Path, data: bytes) -> None:
    descriptor, name = _beside(path)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
            os.fchmod(descriptor, _mode_for(path))
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _mode_for(path: Path) -> int:
    """The mode of the file that is replaced, or what a new file would have."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(path.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask

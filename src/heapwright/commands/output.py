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
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from heapwright.artefacts.run.journal import Journal
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.space import refuse_without_space

STANDARD_OUTPUT = "-"


class Destination:
    """Where one result goes."""

    def __init__(self, text: str, option: str) -> None:
        """Try the destination; raises HeapwrightError if nothing could be written there."""
        self.text = text
        self._option = option
        self._path: Path | None = None
        if text != STANDARD_OUTPUT:
            self._path = _resolved(text)
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

    def spare(self, source: Path) -> None:
        """Refuse to write over what is read."""
        if self._path == Path(os.path.realpath(source)):
            raise HeapwrightError(f"{self._option} {self.text} is what is to be read")

    def write(self, content: str) -> None:
        """Write the whole result. Raises HeapwrightError; an older result is then still there."""
        data = content.encode("utf-8", "backslashreplace")
        with self._told():
            if self._path is None:
                sys.stdout.flush()
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
            elif _replaceable(self._path):
                refuse_without_space(
                    self._path, len(data), f"{self._option} {self.text}", "name another file"
                )
                _replace(self._path, data)
            else:
                self._path.write_bytes(data)

    @contextlib.contextmanager
    def file(self) -> Iterator[Path]:
        """A file for somebody else to write to, which then comes to the destination whole. Raises
        HeapwrightError; an older result is then still there."""
        with self._told():
            replaced = self._path is not None and _replaceable(self._path)
            made = _beside(self._path) if replaced and self._path else tempfile.mkstemp()
        descriptor, name = made
        os.close(descriptor)
        try:
            with self._told():
                yield Path(name)
                if replaced and self._path is not None:
                    Path(name).chmod(_mode_for(self._path))
                    Path(name).replace(self._path)
                else:
                    self._pour(Path(name))
        finally:
            with contextlib.suppress(OSError):
                Path(name).unlink()

    def _pour(self, source: Path) -> None:
        with source.open("rb") as file:
            if self._path is None:
                sys.stdout.flush()
                shutil.copyfileobj(file, sys.stdout.buffer)
                sys.stdout.buffer.flush()
            else:
                with self._path.open("wb") as device:
                    shutil.copyfileobj(file, device)

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            raise
        except OSError as error:
            raise self.failure(error) from error

    def failure(self, error: OSError) -> HeapwrightError:
        return HeapwrightError(
            f"{self._option} {self.text} could not be written: {error.strerror or error}",
            exit_code=ExitCode.NOT_WRITTEN,
        )

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


class Outputs:
    """Where the results of a verb go besides the terminal; all are tried when it is made."""

    def __init__(self, **texts: str | None) -> None:
        """`json="runs.json"` for `--json runs.json`. Raises HeapwrightError, also if two clash."""
        self._made = {
            name: Destination(text, f"--{name}") for name, text in texts.items() if text is not None
        }
        taken: dict[Path | None, str] = {}
        for name, destination in self._made.items():
            other = taken.setdefault(destination.path, name)
            if other != name:
                raise HeapwrightError(f"--{other} and --{name} cannot write to the same place")

    def __getitem__(self, name: str) -> Destination | None:
        return self._made.get(name)

    def spare(self, source: Path) -> None:
        """Refuse to write over what is read."""
        for destination in self._made.values():
            destination.spare(source)

    @property
    def stream(self) -> TextIO:
        """Where the answer is printed: on standard output, unless a document goes there."""
        taken = any(each.is_standard_output for each in self._made.values())
        return sys.stderr if taken else sys.stdout

    def write(self, **contents: Callable[[], str]) -> HeapwrightError | None:
        """Write what was asked for; an error, the first is answered, keeps nothing else from it."""
        failure = None
        for name, destination in self._made.items():
            try:
                destination.write(contents[name]())
            except HeapwrightError as error:
                failure = failure or error
        return failure


def name_page(outputs: Outputs, failure: HeapwrightError | None, *, quiet: bool = False) -> None:
    """Say where the page is that was written, unless it went to standard output."""
    page = outputs["html"]
    if page is not None and page.path is not None and failure is None and not quiet:
        print(f"heapwright: the page is {page.path}", file=sys.stderr)  # noqa: T201


def where_runs_are(
    outputs: Outputs, journal: Journal, failure: HeapwrightError | None, *, any_runs: bool
) -> Iterator[str]:
    """Said at the end; the journal is removed if the document has the runs, or there are none."""
    document = outputs["json"]
    if document is not None and failure is None:
        where = "on standard output" if document.is_standard_output else document.text
        yield f"raw runs and analysis: {where}"
        journal.discard()
    elif not any_runs:
        journal.discard()
    elif journal.path is not None:
        yield f"raw runs: {journal.path}"
    if journal.failure:
        yield f"the journal of raw runs is not complete: {journal.failure}"


def _resolved(text: str) -> Path:
    """The file behind links; a pipe, as of /dev/stdout or >(command), has no name but its link."""
    resolved = Path(os.path.realpath(text))
    return resolved if resolved.exists() or not Path(text).exists() else Path(text)


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

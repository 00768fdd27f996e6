# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Files for results: tested before the runs, and written completely or not at all.

A destination is tested first, so that a long measurement does not end with "permission denied". The
result is written beside its destination and then moved over it. A full disk or a kill therefore
leaves no partial file and keeps the older result. `-` is standard output. A device is written to
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
from heapwright.base.extras import PAGES, need
from heapwright.base.space import refuse_without_space

STANDARD_OUTPUT = "-"


class Destination:
    """The destination of one result."""

    def __init__(self, text: str, option: str) -> None:
        """Test the destination; raises HeapwrightError if it is not writable."""
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
        """Write the whole result. After a HeapwrightError an older result still exists."""
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
        """A temporary file for another writer, moved to the destination when it is complete.
        After a HeapwrightError an older result still exists."""
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
    """The destinations of a verb besides the terminal. The constructor tests all of them."""

    def __init__(self, **texts: str | None) -> None:
        """`json="runs.json"` for `--json runs.json`. Raises HeapwrightError if one is not writable,
        if two clash, or if a page is requested and the libraries of pages are not installed."""
        if texts.get("html") is not None:
            need(*PAGES)
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

    def beside(self, text: str) -> Destination:
        """The destination of `-o TEXT`, which another writer fills. Raises HeapwrightError if it is
        not writable or clashes with a destination of this object."""
        kept = Destination(text, "-o")
        for name, destination in self._made.items():
            if destination.path == kept.path:
                raise HeapwrightError(f"--{name} and -o cannot write to the same place")
        return kept

    def spare(self, source: Path) -> None:
        """Refuse to write over what is read."""
        for destination in self._made.values():
            destination.spare(source)

    @property
    def stream(self) -> TextIO:
        """The stream for the answer: standard output, unless a document goes there."""
        taken = any(each.is_standard_output for each in self._made.values())
        return sys.stderr if taken else sys.stdout

    def write(self, **contents: Callable[[], str]) -> HeapwrightError | None:
        """Write all requested files. An error does not stop the others; the first error is
        returned."""
        failure = None
        for name, destination in self._made.items():
            try:
                destination.write(contents[name]())
            except HeapwrightError as error:
                failure = failure or error
        return failure


def name_page(outputs: Outputs, failure: HeapwrightError | None, *, quiet: bool = False) -> None:
    """Print the place of the page, unless it went to standard output."""
    page = outputs["html"]
    if page is not None and page.path is not None and failure is None and not quiet:
        print(f"heapwright: the page is {page.path}", file=sys.stderr)  # noqa: T201


def where_runs_are(
    outputs: Outputs, journal: Journal, failure: HeapwrightError | None, *, any_runs: bool
) -> Iterator[str]:
    """Print the place of the runs at the end. Remove the journal if the document has the runs,
    or there are none."""
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
    """The file behind links. A pipe such as /dev/stdout or >(command) has only the name of its
    link."""
    resolved = Path(os.path.realpath(text))
    return resolved if resolved.exists() or not Path(text).exists() else Path(text)


def _replaceable(path: Path) -> bool:
    """Whether a new file can be moved over `path`: it is no device, and its folder is writable."""
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

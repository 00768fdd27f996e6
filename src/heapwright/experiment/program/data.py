# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The data of a program: made once, from a seed, and kept below $HEAPWRIGHT_HOME/data.

A hash of all inputs names its folder. The inputs are the section of the file with its parameters,
the files used, and the versions of the programs that make the data. Data from other inputs has
another folder and is never used. Data is made in a temporary folder, which is moved to its place
when it is complete. The next preparation, under the same lock, removes the rest of an interrupted
one.
"""

import contextlib
import fcntl
import hashlib
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.program.file import ProgramFile
from heapwright.artefacts.program.model import ProgramData, ProgramServer, Step
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.paths import why_not_made
from heapwright.base.scratch import Scratch
from heapwright.experiment.program.service import environment_of, log_of, stopped
from heapwright.experiment.program.steps import (
    Done,
    failure,
    is_disk_full,
    last_lines,
    run_step,
)
from heapwright.experiment.program.template_values import Binding
from heapwright.experiment.runner import RunSpec
from heapwright.experiment.server import Server

FOLDER, FILES, MADE, LOCK = "data", "files", "made.json", ".lock"
KEY_DIGITS = 12
MADE_FORMAT = 1
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
VERSION_S = 60.0
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Data:
    """The place of a program's data."""

    key: str
    folder: Path

    @property
    def files(self) -> Path:
        """The value of `{data}`."""
        return self.folder / FILES

    @property
    def is_whole(self) -> bool:
        return (self.folder / MADE).is_file()


def data_of(file: ProgramFile, home: Path, environment: Mapping[str, str]) -> Data | None:
    """The data of a program; None if it has none.

    Makes no data, but reads its `files` and runs its `made_by` commands, from which the key is
    computed. Raises HeapwrightError if one of them fails."""
    data = file.program.data
    if data is None:
        return None
    key = _key(file, data, environment)
    return Data(key, home / FOLDER / f"{file.program.name}-{key}")


def made_for(file: ProgramFile, home: Path) -> list[Path]:
    """All data of a program, also of other parameters and older versions."""
    found = (home / FOLDER).glob(f"{file.program.name}-*")
    pattern = re.compile(re.escape(file.program.name) + rf"-[0-9a-f]{{{KEY_DIGITS}}}")
    return sorted(each for each in found if pattern.fullmatch(each.name))


def prepare_data(
    file: ProgramFile, home: Path, environment: Mapping[str, str], tell: Tell
) -> Data | None:
    """The data, made if it is missing. Raises HeapwrightError; KeyboardInterrupt on Ctrl-C."""
    found = data_of(file, home, environment)
    if found is None or found.is_whole:
        return found
    parent = found.folder.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise HeapwrightError(
            f"{parent} cannot be made: {why_not_made(parent, error)}",
            "HEAPWRIGHT_HOME names another place",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error
    try:
        with _locked(parent / f"{LOCK}-{file.program.name}", tell):
            if not found.is_whole:
                _make(file, found, environment, tell)
    except OSError as error:
        raise HeapwrightError(
            f"the data of {file.program.name} cannot be kept in {parent}: {error.strerror}",
            "HEAPWRIGHT_HOME names another place",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error
    return found


def remove(folder: Path) -> None:
    """Remove data, beginning with its completion mark. Partial data must not look complete."""
    with contextlib.suppress(FileNotFoundError):
        (folder / MADE).unlink()
    shutil.rmtree(folder)


def _key(file: ProgramFile, data: ProgramData, environment: Mapping[str, str]) -> str:
    binding = Binding(file, None, None)
    told = [str(MADE_FORMAT), data.model_dump_json(exclude={"size", "timeout_s"})]
    told += [binding.text(each) for each in _templates(data)]
    told += [f"{name}={binding.text(text)}" for name, text in file.program.environment.items()]
    for name in data.files:
        path = file.folder / binding.text(name)
        try:
            told.append(hashlib.sha256(path.read_bytes()).hexdigest())
        except OSError as error:
            raise HeapwrightError(f"{path} cannot be read: {error.strerror}") from error
    here = Binding(file, Path(tempfile.gettempdir()), None)
    told += [_version(here.words(words), environment) for words in data.made_by]
    return hashlib.sha256("\0".join(told).encode()).hexdigest()[:KEY_DIGITS]


def _templates(data: ProgramData) -> Iterator[str]:
    """The inputs that depend on parameters."""
    steps = [*data.commands]
    if data.server is not None:
        steps += [data.server.command, *data.server.load, data.server.stop]
    for step in steps:
        if isinstance(step, str):
            yield step
        else:
            yield from step


def _version(words: tuple[str, ...], environment: Mapping[str, str]) -> str:
    with Scratch() as folder:
        done = run_step(words, environment, folder, folder / "said", VERSION_S)
    if not done.good:
        raise HeapwrightError(f"{words[0]} does not say its version: it {done.why}", done.said)
    return done.stdout.strip() or done.stderr.strip()


@contextlib.contextmanager
def _locked(path: Path, tell: Tell) -> Iterator[None]:
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell("the data is being made by another heapwright: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _make(file: ProgramFile, found: Data, environment: Mapping[str, str], tell: Tell) -> None:
    data, name, parent = file.program.data, file.program.name, found.folder.parent
    assert data is not None
    for left in (*parent.glob(f".{name}-*.half"), found.folder):
        shutil.rmtree(
            left, ignore_errors=True
        )  # this process holds the lock, so no other process makes it now
    half = parent / f".{name}-{found.key}.half"
    files = half / FILES
    files.mkdir(parents=True)
    try:
        _refuse_without_room(file, Binding(file, half, files).text(data.size), parent)
        size = f", about {data.size}" if data.size and "{" not in data.size else ""
        tell(f"making the data of {name}, once{size}: {found.folder}")
        began = time.time()
        with Scratch() as scratch:
            run = scratch / "run"
            run.mkdir()
            binding = Binding(file, run, files)
            own = environment_of(file, binding, run, environment)
            what = f"making the data of {name}"
            _Making(data, what, binding, own, files, scratch).fill()
        made = {
            "format": MADE_FORMAT,
            "program": name,
            "program_sha256": file.sha256,
            "parameters": file.program.parameters,
            "began": began,
            "seconds": round(time.time() - began, 3),
        }
        (half / MADE).write_text(json.dumps(made, indent=2) + "\n", encoding="utf-8")
        half.rename(found.folder)
    finally:
        shutil.rmtree(half, ignore_errors=True)


def _refuse_without_room(file: ProgramFile, size: str, parent: Path) -> None:
    if not size:
        return
    unit = size[-1] if size[-1] in UNITS else ""
    wanted = float(size.removesuffix(unit)) * UNITS[unit]
    free = shutil.disk_usage(parent).free
    if free < wanted:
        raise HeapwrightError(
            f"the disk is too full: the data of {file.program.name} takes about {size}, and "
            f"{free // 2**20} MiB are free in {parent}",
            "choose a smaller scale, or another place by HEAPWRIGHT_HOME",
            exit_code=ExitCode.NOT_WRITTEN,
        )


@dataclass(frozen=True, slots=True)
class _Making:
    """Data in preparation."""

    data: ProgramData
    what: str
    binding: Binding
    environment: Mapping[str, str]
    files: Path
    scratch: Path

    def fill(self) -> None:
        for step in self.data.commands:
            self._step(step)
        if self.data.server is not None:
            self._serve(self.data.server)

    def _step(self, step: Step) -> None:
        words = self.binding.step(step)
        limit = float(self.data.timeout_s)
        done = run_step(words, self.environment, self.files, self.scratch / "said", limit)
        if not done.good:
            raise failure(self.what, words, done, self.files)

    def _serve(self, served: ProgramServer) -> None:
        """Start a server, load its data, and stop it normally."""
        output = self.scratch / "server"
        patience = float(served.timeout_s)
        spec = RunSpec(
            command=self.binding.words(served.command),
            environment=self.environment,
            grace_s=patience,
            cwd=self.files,
            stdout=output,
            interval_ms=1000.0,
            witnessed=False,
        )
        question = self.binding.question(served.ready)
        with Server(spec, question, patience, self.environment) as server:
            named = server.await_ready()
            for step in served.load if named is None else ():
                self._step(step)
            raw, end = stopped(server, served, self.binding, self.environment, self.scratch)
        named = named or end
        if named is not None:
            log = log_of(served, self.binding, self.files, output)
            said = last_lines(log) or last_lines(raw.stderr_tail)
            if is_disk_full(said, self.files):
                raise failure(self.what, spec.command, Done(named.detail, said, ""), self.files)
            hint = "\n".join(f"| {line}" for line in said.splitlines())
            raise HeapwrightError(f"{self.what}: {named.detail}", hint)

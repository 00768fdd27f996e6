# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Sets up a program that a command line names: reads it, checks this machine, prepares its data.

`compare`, `record`, `profile`, `explain` and `programs run` share this. Missing requirements are
refused first. Then the command is checked as any other. Data is made last.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from heapwright.artefacts.allocator.user_registry import user_home
from heapwright.artefacts.program.file import ProgramFile
from heapwright.artefacts.program.library import open_program
from heapwright.artefacts.program.model import Program, ProgramFigure, ProgramSubject
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.command_check import check_command, machine_of
from heapwright.experiment.measurement import Conditions, Specs
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.data import prepare_data
from heapwright.experiment.program.needs import require
from heapwright.experiment.program.own_allocator import c_library, linked_allocators
from heapwright.experiment.program.session import Prepared
from heapwright.experiment.program.template_values import Binding, reaching_servers

BUSY = 0.9
"""Share of its usable processors above which a client is the bottleneck."""


AS_IT_IS = "glibc"
"""The allocator to name if none is preloaded."""


@dataclass(frozen=True, slots=True)
class ProgramSetup:
    """A program, ready to be run on this machine."""

    prepared: Prepared
    environment: Mapping[str, str]
    first: Path | None
    notes: tuple[str, ...]

    @property
    def file(self) -> ProgramFile:
        return self.prepared.file

    @property
    def shown(self) -> tuple[str, ...]:
        """The process under the allocator, as a command. Placeholders of a run are not filled
        in."""
        program = self.file.program
        words = program.measured
        return Binding(self.file, None, None).words(words)

    @property
    def subject(self) -> ProgramSubject:
        """Its entry in a document."""
        program = self.file.program
        binding = Binding(self.file, None, None)
        return ProgramSubject(
            name=program.name,
            title=program.title,
            scale=self.file.scale or "",
            parameters=dict(program.parameters),
            sha256=self.file.sha256,
            data=self.prepared.key,
            client=binding.words(program.command) if program.is_server else (),
            figures=tuple(_figures(program)),
        )

    def specs(self, paths: PreloadPaths, cpus: str | None = None) -> Specs:
        conditions = Conditions((), self.environment, Path.cwd(), cpus=cpus)
        return Specs(conditions, paths, self.first)


def _figures(program: Program) -> Iterator[ProgramFigure]:
    """Its compared responses."""
    for name, each in program.responses.items():
        if each.better != "none":
            yield ProgramFigure(
                measure=each.inverse or name,
                title=each.title or name,
                unit=each.unit,
                inverse=bool(each.inverse),
            )


def refuse_own_allocator(program: Program, allocators: Iterable[str | None]) -> None:
    """Refuse other allocators for a program with a built-in allocator."""
    others = [each for each in allocators if each not in (None, AS_IT_IS)]
    if program.own_allocator and others:
        raise HeapwrightError(
            f"{program.name} brings an allocator of its own, {program.own_allocator}, which no "
            f"preload replaces: {', '.join(map(str, others))} would change nothing in it",
            f"heapwright programs run {program.name} runs it as it is",
        )


def open_asked(asked: ProgramRequest) -> ProgramFile:
    """Raises HeapwrightError."""
    return open_program(asked.name, asked.scale, pairs(asked.parameters))


def pairs(texts: Sequence[str]) -> dict[str, str]:
    """The values of -p: NAME=VALUE."""
    found: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise HeapwrightError(f"cannot read the parameter {text!r}", "write -p NAME=VALUE")
        found[name.strip()] = value
    return found


def tell(text: str) -> None:
    """Progress message of a long step."""
    print(f"heapwright: {text}", file=sys.stderr, flush=True)  # noqa: T201


def set_up_program(asked: ProgramRequest, environment: Mapping[str, str]) -> ProgramSetup:
    """Raises HeapwrightError for a refused request. Ctrl-C removes unfinished data."""
    return set_up_file(open_asked(asked), environment)


def set_up_file(file: ProgramFile, environment: Mapping[str, str]) -> ProgramSetup:
    """The same, of a program that has been read."""
    own = reaching_servers(environment)
    require(file, own)
    executable, warnings = _checked(file, own)
    first, notes = _brought(executable)
    home = user_home(environment)
    data = prepare_data(file, home, own, tell)
    prepared = Prepared(
        file, None if data is None else data.files, "" if data is None else data.key
    )
    return ProgramSetup(prepared, own, first, (*file.program.caution, *warnings, *notes))


def _checked(file: ProgramFile, environment: Mapping[str, str]) -> tuple[Path, tuple[str, ...]]:
    """The executable, if its name is known before a run; one that no preload reaches is refused."""
    program = file.program
    words = program.measured
    name = Binding(file, None, None).text(words[0]).replace("{folder}", str(file.folder))
    if "{" in name:
        return Path(name), ()
    machine = machine_of(native.witness())
    checked = check_command((name,), machine=machine, cwd=Path.cwd(), environment=environment)
    return checked.executable, checked.warnings


def _brought(executable: Path) -> tuple[Path | None, tuple[str, ...]]:
    """The C library if it must be preloaded too, and the note about that."""
    linked = linked_allocators(executable)
    if not linked:
        return None, ()
    return c_library(), (
        f"{executable.name} is linked to {', '.join(linked)}: that is what it has without a "
        "preload. For the treatment glibc, the C library is preloaded",
    )


def notes_on_clients(runs: Iterable[Run], setup: ProgramSetup) -> Iterator[str]:
    """The load of the client, and whether it limited the figures of the server."""
    program = setup.file.program
    if not program.is_server:
        return
    good = [run for run in runs if run.outcome is Outcome.OK and run.client_cpu_s is not None]
    spent = [run for run in good if run.wall_s]
    if not spent:
        return
    cpus = len_cpus(setup)
    own = min(client_threads(setup), cpus)
    used = median((run.client_cpu_s or 0.0) / (run.wall_s or 1.0) for run in spent)
    share = median(_share(run) for run in spent)
    said = f"the client used {share:.0%} of the processor time and {used:.2f} processors"
    if used >= BUSY * own:
        yield (
            f"{said}, of {own} that it can use: it was the bottleneck, so that differences between "
            "allocators look smaller than they are"
        )
    else:
        yield said


def _share(run: Run) -> float:
    client = run.client_cpu_s or 0.0
    both = client + (run.user_s or 0.0) + (run.sys_s or 0.0)
    return client / both if both > 0 else 0.0


def client_threads(setup: ProgramSetup) -> int:
    """The number of processors that the client can use at a time."""
    threads = setup.file.program.client_threads
    text = Binding(setup.file, None, None).text(str(threads))
    if not text.isdecimal() or int(text) < 1:
        raise HeapwrightError(f"client_threads is {text!r}, and should be a number from 1 on")
    return int(text)


def len_cpus(setup: ProgramSetup) -> int:
    """The processors that a run may use."""
    return int(Binding(setup.file, None, None).text("{cpus}"))

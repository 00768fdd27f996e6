# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Sets up the programs of a study: reads them at its scale, checks this machine, prepares data.

Treatments that differ only in their allocators share one program. Programs with equal data share
it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heapwright.artefacts.program.library import open_program
from heapwright.artefacts.program.model import ProgramResponse
from heapwright.artefacts.study.file import StudyFile
from heapwright.artefacts.study.model import Response
from heapwright.artefacts.study.treatment import StudyTreatment
from heapwright.artefacts.study_results.runs import Measured
from heapwright.base.errors import HeapwrightError
from heapwright.commands.program_setup import ProgramSetup, refuse_own_allocator, set_up_file
from heapwright.experiment.study_measurement import StudyProgram


@dataclass(frozen=True, slots=True)
class StudyPrograms:
    """The programs of treatments, by their ids."""

    setups: Mapping[str, ProgramSetup]

    @property
    def prepared(self) -> dict[str, StudyProgram]:
        return {
            id_: StudyProgram(setup.prepared, setup.environment, setup.first)
            for id_, setup in self.setups.items()
        }

    @property
    def hashes(self) -> dict[str, str]:
        return {each.file.program.name: each.file.sha256 for each in self.setups.values()}

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for each in self.setups.values() for note in each.notes))

    def command(self, id_: str) -> tuple[str, ...]:
        """The process of a treatment under the allocator. Placeholders of a run are not filled
        in."""
        return self.setups[id_].shown if id_ in self.setups else ()

    def read(self, name: str, response: Response, made: Measured) -> Measured:
        """How a response is measured. The program's file completes what the study leaves open."""
        own = self._response(name) if response.origin == "program" else None
        if own is None:
            return made
        said = response.model_fields_set
        return made.model_copy(
            update={
                "title": made.title or own.title,
                "unit": made.unit or own.unit,
                "better": made.better if "better" in said else own.better,
            }
        )

    def _response(self, name: str) -> ProgramResponse | None:
        for setup in self.setups.values():
            if name in setup.file.program.responses:
                return setup.file.program.responses[name]
        return None

    def missing(self, file: StudyFile) -> None:
        """Raises HeapwrightError if no program has a response."""
        for name, response in file.study.responses.items():
            if response.origin == "program" and self._response(name) is None:
                there = {
                    each for one in self.setups.values() for each in one.file.program.responses
                }
                raise file.error(
                    ("responses", name),
                    f"the program has no response {name!r}",
                    f"it has {', '.join(sorted(there)) or 'none'}",
                )


def programs_of(
    file: StudyFile, treatments: Sequence[StudyTreatment], environment: Mapping[str, str]
) -> StudyPrograms:
    """Prepare the programs of the treatments. Raises HeapwrightError."""
    made: dict[tuple[str, tuple[tuple[str, str], ...]], ProgramSetup] = {}
    setups: dict[str, ProgramSetup] = {}
    for each in treatments:
        if each.program is None:
            continue
        key = (each.program, tuple(each.parameters.items()))
        if key not in made:
            made[key] = _set_up(file, each, environment)
        setups[each.id] = made[key]
    found = StudyPrograms(setups)
    if setups:
        found.missing(file)
    return found


def _set_up(
    file: StudyFile, treatment: StudyTreatment, environment: Mapping[str, str]
) -> ProgramSetup:
    assert treatment.program is not None
    try:
        scale = file.study.program_scale
        if scale is None and file.scale in open_program(treatment.program).program.scale:
            scale = file.scale
        program = open_program(treatment.program, scale, treatment.parameters)
        refuse_own_allocator(program.program, [treatment.allocator])
        return set_up_file(program, environment)
    except HeapwrightError as error:
        raise file.error(("program",), error.message, error.hint) from error

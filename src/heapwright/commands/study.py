# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright study show` and `check`: checks a study on this machine."""

import json
import os
from collections.abc import Iterable

import typer

from heapwright.artefacts.study.file import StudyFile, scale_names
from heapwright.base.errors import HeapwrightError
from heapwright.base.native import NativeMissingError
from heapwright.commands.setup import discovering
from heapwright.commands.study_machine import look_up, open_with_allocators
from heapwright.commands.text import printing
from heapwright.experiment.discovery import Discovery
from heapwright.report.console import make_console
from heapwright.report.study_text import Size, print_sizes, print_studies, print_study
from heapwright.study.design import DesignedStudy, build_design
from heapwright.study.library import every_study, study_path


def design_here(file: StudyFile, discovery: Discovery, seed: int) -> DesignedStudy:
    """The design of the study on this machine."""
    own = file.study.design.seed
    machine = look_up(file, discovery).machine
    return build_design(file, machine, seed if own is None else own)


def notes_of(design: DesignedStudy) -> tuple[str, ...]:
    """The parts left out with their reasons, and the choice of a fraction."""
    dropped = (f"dropped: {each.factor} {each.level}: {each.because}" for each in design.dropped)
    about = "" if design.counted else "about "
    excluded = (
        f"left out: {about}{each.count:,} in which not {each.require}"
        + (f" ({each.because})" if each.because else "")
        for each in design.excluded
    )
    return (*dropped, *excluded, *design.notes)


def list_studies(*, as_json: bool) -> None:
    """`heapwright study list`."""
    found = list(every_study())
    with printing():
        if as_json:
            typer.echo(json.dumps(studies_json(found), indent=2, ensure_ascii=False))
        else:
            print_studies(make_console(), [file.study for file in found])


def show_study(name: str, scale: str | None, *, seed: int, as_json: bool) -> None:
    """`heapwright study show`."""
    file = open_with_allocators(name, scale)
    scales = [scale] if scale is not None else [None, *scale_names(file)]
    sizes = list(_sizes(name, scales, seed))
    with printing():
        if as_json:
            document = studies_json([file])[0] | {
                "sizes": {
                    size.scale or "whole": {"extent": size.extent, "notes": size.notes}
                    for size in sizes
                }
            }
            typer.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            print_study(make_console(), file.study, str(study_path(name)), sizes)


def check_studies(names: Iterable[str], seed: int) -> None:
    """`heapwright study check`: checks all files, and prints the errors at the end."""
    wrong: list[HeapwrightError] = []
    for name in names:
        try:
            _check_study(name, seed)
        except HeapwrightError as error:
            wrong.append(error)
    if wrong:
        first, *others = wrong
        further = [line for each in others for line in (each.message, each.hint) if line]
        raise HeapwrightError(first.message, "\n".join([first.hint, *further]).strip("\n"))


def _check_study(name: str, seed: int) -> None:
    file = open_with_allocators(name)
    sizes = list(_sizes(name, [None, *scale_names(file)], seed, strict=True))
    with printing():
        console = make_console()
        console.print(f"{file.where}: the study {file.study.name} is correct", soft_wrap=True)
        print_sizes(console, sizes)


def _sizes(
    name: str, scales: Iterable[str | None], seed: int, *, strict: bool = False
) -> Iterable[Size]:
    """A design for each scale. A scale that cannot be designed here has the reason; if strict,
    it is an error."""
    with discovering(os.environ) as discovery:
        for scale in scales:
            file = open_with_allocators(name, scale)
            try:
                design = design_here(file, discovery, seed)
            except NativeMissingError:
                raise
            except HeapwrightError as error:
                if strict:
                    raise
                yield Size(scale or "", error.message, tuple(error.hint.splitlines()))
            else:
                yield Size(scale or "", str(design.extent), notes_of(design))


def studies_json(files: Iterable[StudyFile]) -> list[dict[str, object]]:
    """The studies and the places of their files."""
    return [
        {"path": file.where, "sha256": file.sha256}
        | file.study.model_dump(mode="json", by_alias=True)
        for file in files
    ]

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The compact form of a results folder: what a repository keeps beside the page of a study.

It is a results folder that every reader reads. Its runs are compressed, and no run can be added. It
leaves out what only says where files lay on the machine, and the details of most runs.
"""

import gzip
from collections.abc import Collection
from pathlib import Path

from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.study.file import parse_study
from heapwright.artefacts.study.published import keep
from heapwright.artefacts.study_results.folder import Folder, compressed
from heapwright.artefacts.study_results.reader import Results
from heapwright.artefacts.study_results.runs import (
    DESIGN_FILE,
    DETAILS_FILE,
    RUNS_FILE,
    STUDY_FILE,
    Header,
    StudyDesign,
)
from heapwright.artefacts.study_results.store import host_file
from heapwright.base.errors import ExitCode, HeapwrightError


def write_compact(results: Results, target: Path, whole: Collection[tuple[int, str]]) -> None:
    """Write the compact form into a folder; `whole` are the runs that keep memory over time.

    Several folders become one, with the blocks of `results`. An earlier form of the same study is
    replaced. Raises HeapwrightError for a target that holds another study or what is read, and for
    one that cannot be written.
    """
    _refuse_other(target, results)
    files = _files(results)
    details = [
        run.model_copy(update={"processes": []}).split()[0] for run in results.whole_runs(whole)
    ]
    files[compressed(Path(DETAILS_FILE)).name] = _packed(details)
    origin = results.folders[0].path
    where = str(origin / STUDY_FILE)
    study = parse_study(results.study_text, where, results.design.scale or None).study
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (target / name).write_bytes(data)
        keep(study.published, origin, target)
    except OSError as error:
        raise HeapwrightError(
            f"{target} cannot be written: {error.strerror or error}",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error


def _refuse_other(target: Path, results: Results) -> None:
    if (target / RUNS_FILE).exists() or target.resolve() in {each.path for each in results.folders}:
        raise HeapwrightError(f"{target} holds runs already", "name another folder")
    if (target / DESIGN_FILE).exists():
        there = Folder.open(target).design.study
        if there != results.design.study:
            raise HeapwrightError(f"{target} holds results of the study {there}")


def _files(results: Results) -> dict[str, bytes]:
    """Study, design, machines and runs, by their names in the folder."""
    header = Header.of(results.design).model_dump_json()
    lines = [run.split()[1] for run in results.runs()]
    files = {
        STUDY_FILE: results.study_text.encode(),
        DESIGN_FILE: _written(_without_places(results.design)),
        compressed(Path(RUNS_FILE)).name: _packed([header, *lines]),
    }
    for host in results.environments.values():
        files[host_file(host.host)] = _written(_without_paths(host))
    return files


def _written(model: StudyDesign | Environment) -> bytes:
    return f"{model.model_dump_json(indent=1)}\n".encode()


def _packed(lines: list[str]) -> bytes:
    """The lines, compressed; equal lines give equal bytes."""
    return gzip.compress("".join(f"{line}\n" for line in lines).encode(), mtime=0)


def _without_places(design: StudyDesign) -> StudyDesign:
    """The design without the study's folder and the command lines: `study.toml` has both."""
    bare: dict[str, object] = {"command": (), "environment": {}, "prefix": ()}
    cells = tuple(cell.model_copy(update=bare) for cell in design.treatments)
    return design.model_copy(update={"folder": "", "treatments": cells})


def _without_paths(host: Environment) -> Environment:
    """The machine with the names of the libraries instead of their paths."""
    allocators = [
        each.model_copy(update={"path": each.path and Path(each.path).name})
        for each in host.allocators
    ]
    return host.model_copy(update={"allocators": allocators})

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a host still has the libraries that earlier runs of a study were made with."""

from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.study_results.folder import Folder
from heapwright.artefacts.study_results.store import host_file
from heapwright.base.errors import HeapwrightError
from heapwright.commands.study_setup import Setup


def refuse_other_libraries(folder: Folder, setup: Setup) -> None:
    """Runs of one folder are made with the same libraries, as far as this host is concerned."""
    changed = changed_libraries(folder, setup.machine)
    if changed:
        raise HeapwrightError(
            f"{', '.join(changed)} is another library now than when {folder.path} was begun",
            f"begin anew with another -o; what there is can still be analysed "
            f"({host_file(setup.machine.host)} says what it was)",
        )


def changed_libraries(folder: Folder, machine: Environment) -> list[str]:
    """Allocators that are not what they were when this host made runs for the folder before."""
    before = folder.environments.get(machine.host)
    hashes = {each.name: each.sha256 for each in before.allocators} if before else {}
    return [
        each.name
        for each in machine.allocators
        if hashes.get(each.name, each.sha256) != each.sha256
    ]

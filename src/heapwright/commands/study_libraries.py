# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that a host still has the libraries of the earlier runs of a study."""

from heapwright.artefacts.run.provenance import Environment
from heapwright.artefacts.study_results.folder import Folder
from heapwright.artefacts.study_results.store import host_file
from heapwright.base.errors import HeapwrightError
from heapwright.commands.study_setup import Setup


def refuse_other_libraries(folder: Folder, setup: Setup) -> None:
    """Refuse a library that changed on this host since the earlier runs of the folder."""
    changed = changed_libraries(folder, setup.machine)
    if changed:
        raise HeapwrightError(
            f"{', '.join(changed)} is another library now than when {folder.path} was begun",
            f"begin again with another -o; the existing runs can still be analysed "
            f"({host_file(setup.machine.host)} says what it was)",
        )


def changed_libraries(folder: Folder, machine: Environment) -> list[str]:
    """Allocators whose library changed since this host made runs for the folder."""
    before = folder.environments.get(machine.host)
    hashes = {each.name: each.sha256 for each in before.allocators} if before else {}
    return [
        each.name
        for each in machine.allocators
        if hashes.get(each.name, each.sha256) != each.sha256
    ]

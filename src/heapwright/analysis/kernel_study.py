# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The summary of a study of kernels: each figure of each load, over the seeds, beside SLUB's."""

from collections.abc import Iterable, Sequence

from heapwright.analysis.paired import paired_ratio
from heapwright.artefacts.kernel_study.boot import KernelBoot
from heapwright.artefacts.kernel_study.document import BASELINE, Figure, KernelRun

LEVEL = 0.95
Group = tuple[str, int, int]
"""Load, processors, memory."""


def figures(runs: Iterable[KernelRun]) -> list[Figure]:
    """One for each load, processors, memory, response and kernel that was booted to its end."""
    boots: dict[Group, dict[str, dict[int, KernelBoot]]] = {}
    for run in runs:
        if run.boot is not None:
            cell = run.cell
            of_group = boots.setdefault((cell.load, cell.cpus, cell.memory_mib), {})
            of_group.setdefault(cell.allocator, {})[cell.block] = run.boot
    found = []
    for group, by_allocator in boots.items():
        names = _responses(each for of in by_allocator.values() for each in of.values())
        for response in names:
            for allocator in sorted(by_allocator):
                found.append(_figure(group, response, allocator, by_allocator))
    return found


def _responses(boots: Iterable[KernelBoot]) -> Sequence[str]:
    return list(dict.fromkeys(name for boot in boots for name in boot.responses))


def _figure(
    group: Group, response: str, allocator: str, by_allocator: dict[str, dict[int, KernelBoot]]
) -> Figure:
    load, cpus, memory = group
    mine = _values(by_allocator[allocator], response)
    base = _values(by_allocator.get(BASELINE, {}), response)
    both = sorted(mine.keys() & base.keys())
    ratio = paired_ratio([base[at] for at in both], [mine[at] for at in both], LEVEL)
    values = tuple(mine[at] for at in sorted(mine))
    return Figure(
        load=load,
        cpus=cpus,
        memory_mib=memory,
        response=response,
        allocator=allocator,
        values=values,
        mean=sum(values) / len(values) if values else 0.0,
        ratio=ratio.ratio if ratio else None,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio else None,
    )


def _values(boots: dict[int, KernelBoot], response: str) -> dict[int, float]:
    has = {block: boot for block, boot in boots.items() if response in boot.responses}
    return {block: boot.responses[response] for block, boot in has.items()}

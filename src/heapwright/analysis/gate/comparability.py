# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether two documents can be held against each other at all, and what else is not the same.

Some differences change every figure for reasons that are not the question, and are refused. They
are another command, another processor and another number of processors. The rest (a kernel, a C
library, a governor) may be the very subject of the comparison, and is reported.
"""

from collections.abc import Iterator
from pathlib import PurePath

from heapwright.analysis.gate.documents import Document


def refusals(baseline: Document, current: Document, *, relative: bool) -> Iterator[str]:
    """What makes a comparison of these meaningless; the machine only in absolute figures."""
    if baseline.kind != current.kind:
        yield f"one is {_a(baseline.kind)}, the other {_a(current.kind)}"
    elif _without_folders(baseline.subject) != _without_folders(current.subject):
        yield f"not the same was run: {_words(baseline)}, then {_words(current)}"
    if relative:
        both = baseline.references.keys() & current.references.keys()
        for treatment in sorted(both):
            old, new = baseline.references[treatment], current.references[treatment]
            if old != new:
                yield f"the ratios refer to {old}, then to {new}"
                break
    if not relative:
        yield from _machines(baseline, current)


def differences(baseline: Document, current: Document, *, relative: bool) -> Iterator[str]:
    """What else is not the same, a line each."""
    if baseline.subject != current.subject and _without_folders(
        baseline.subject
    ) == _without_folders(current.subject):
        yield "the command lies in another folder than before"
    if relative:
        for machine in _machines(baseline, current):
            yield f"{machine}; ratios may depend on the machine, too"
    old, new = baseline.environment, current.environment
    facts = ("host", "kernel", "distribution", "libc", "governor", "clock", "heapwright")
    for fact in facts:
        before, after = getattr(old, fact), getattr(new, fact)
        if before != after:
            yield f"another {fact}: {before or 'unknown'}, then {after or 'unknown'}"
    if old.settings != new.settings:
        names = sorted(
            name
            for name in old.settings.keys() | new.settings.keys()
            if old.settings.get(name) != new.settings.get(name)
        )
        yield f"the environment differs in {', '.join(names)}"
    yield from _identities(baseline, current)


def _identities(baseline: Document, current: Document) -> Iterator[str]:
    """Allocators that are not what they were; in a study many treatments have the same one."""
    changed: dict[tuple[str, str], list[str]] = {}
    for treatment, identity in baseline.identities.items():
        other = current.identities.get(treatment, identity)
        if other != identity:
            changed.setdefault((identity, other), []).append(treatment)
    for (before, after), treatments in changed.items():
        whose = treatments[0] if len(treatments) == 1 else f"allocator of {treatments[0]}"
        more = f" and {len(treatments) - 1} more" if len(treatments) > 1 else ""
        yield f"another {whose}{more}: {_identity(before)}, then {_identity(after)}"


def _machines(baseline: Document, current: Document) -> Iterator[str]:
    old, new = baseline.environment, current.environment
    if old.cpu != new.cpu:
        yield f"the processors differ: {old.cpu}, then {new.cpu}"
    if old.cpus != new.cpus:
        yield f"there were {old.cpus} processors, then {new.cpus}"
    if baseline.pinned_cpus != current.pinned_cpus:
        yield "the runs were pinned to other processors"


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def _without_folders(words: tuple[str, ...]) -> list[str]:
    """A checkout lies somewhere else every time: only the last part of each path counts."""
    return [PurePath(word).name if "/" in word else word for word in words]


def _words(document: Document) -> str:
    text = " ".join(document.subject)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _identity(identity: str) -> str:
    """The version, and enough of the hash that two files can be told apart."""
    version, _, digest = identity.rpartition(" ")
    return f"{version} ({digest[:8]})".strip() if digest else version or "unknown"

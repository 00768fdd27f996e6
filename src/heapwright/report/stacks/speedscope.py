# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Call stacks as a file of speedscope: a profile for each amount, over one table of functions.

A stack is a sample whose weight is its amount. speedscope shows the profiles one at a time. Its
order over time has no meaning here; "left heavy" and "sandwich" are the views to use.

Source: the file format of speedscope, `file-format-spec.ts`.
"""

import json

from heapwright.artefacts.profile.calls import Function
from heapwright.artefacts.stacks.profile import NO_STACK, StackProfile, chains, stack_of

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


def speedscope_of(profile: StackProfile) -> str:
    """The file as JSON."""
    frames: dict[Function, int] = {}
    samples = []
    for chain in chains(profile.calls):
        functions = stack_of(profile.calls, chain.place)[::-1] or [Function(name=NO_STACK)]
        stack = [frames.setdefault(each, len(frames)) for each in functions]
        samples.append((stack, chain.own))
    profiles = []
    for amount in profile.ordered:
        weighted = [(stack, amount.of(own)) for stack, own in samples if amount.of(own)]
        profiles.append(
            {
                "type": "sampled",
                "name": profile.words(amount),
                "unit": "bytes" if amount.is_memory else "none",
                "startValue": 0,
                "endValue": sum(weight for _, weight in weighted),
                "samples": [stack for stack, _ in weighted],
                "weights": [weight for _, weight in weighted],
            }
        )
    document = {
        "$schema": SCHEMA,
        "name": " ".join(profile.command) or profile.source,
        "exporter": "heapwright",
        "activeProfileIndex": 0,
        "shared": {"frames": [_frame(each) for each in frames]},
        "profiles": profiles,
    }
    return json.dumps(document, ensure_ascii=False) + "\n"


def _frame(function: Function) -> dict[str, str | int]:
    found: dict[str, str | int] = {"name": function.name}
    if function.file:
        found["file"] = function.file
    if function.line:
        found["line"] = function.line
    return found

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Asks `heapwright explain` about a case, and reads what it answers."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .cases import Builder, Case

FOREIGN = ("LD_", "MALLOC_", "GLIBC_", "TCMALLOC_", "MIMALLOC_", "PYTHONMALLOC")
EXPLAIN = (sys.executable, "-m", "heapwright", "explain", "-q", "--json", "-", "--")
TIMEOUT_S = 300
UNKNOWN = "unknown"
"""The kind of a finding that draws no conclusion."""
REFUSED = "refused"
"""Stands in place of the document of a refusal, with its message."""
NO_CONCLUSION = 2
"""The exit status of a refusal."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered."""

    kinds: frozenset[str] | None
    """What it finds; empty for steady; None: it cannot tell."""
    sentence: str
    places: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a kind, the frames of the first culprit."""
    rates: Mapping[str, float] = field(default_factory=dict)
    """For a kind, bytes a second."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """The variables that it advises to set, and their values."""
    searched: bool = False
    """Whether the process was searched for blocks that no pointer leads to."""
    document: Mapping[str, Any] = field(default_factory=dict)


def ask(case: Case, builder: Builder) -> Answer:
    """What `heapwright explain` answers. Raises MissingError."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    done = subprocess.run(
        [*EXPLAIN, *builder.command(case)],
        capture_output=True,
        text=True,
        check=False,
        env=kept | builder.environment(case),
        timeout=TIMEOUT_S,
    )
    if done.returncode == NO_CONCLUSION:
        return read_answer({REFUSED: " ".join(done.stderr.split())})
    if done.returncode != 0:
        raise subprocess.CalledProcessError(
            done.returncode, done.args, output=done.stdout, stderr=done.stderr
        )
    return read_answer(json.loads(done.stdout))


def read_answer(document: Mapping[str, Any]) -> Answer:
    """The answer of a document that `--json` wrote, of this version or an earlier one."""
    if REFUSED in document:
        return Answer(None, document[REFUSED], document=document)
    found = document.get("findings") or [{"kind": document["kind"]}]
    kinds = {each["kind"] for each in found} - {"steady"}
    places: dict[str, tuple[str, ...]] = {}
    for each in document["culprits"]:
        kind = each.get("kind") or document["kind"]
        places.setdefault(kind, (each["place"],) if each.get("place") else tuple(each["frames"]))
    rates = {each["kind"]: each.get("rate_bytes_per_s") for each in found}
    return Answer(
        None if kinds == {UNKNOWN} else frozenset(kinds - {UNKNOWN}),
        document["sentence"],
        places,
        {kind: rate for kind, rate in rates.items() if rate is not None},
        (document.get("setting") or {}).get("assignments", {}),
        document["reachability"] is not None,
        document,
    )

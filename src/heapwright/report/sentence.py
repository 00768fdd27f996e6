# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in words: the verdict's sentence, what to know about it, and how to apply it."""

from collections.abc import Sequence

from heapwright.artefacts.comparison.document import Verdict

OTHER_PLACES = ("service:", "Dockerfile:", "Kubernetes:", "link:")
HINT = "  systemd, Dockerfile, Kubernetes, linker: add --advice, or see verdict.how of --json"
_STYLES = {"switch": "bold green", "stay": "bold", "undecided": "bold yellow"}


def sentence(verdict: Verdict) -> str:
    """The one sentence, without a full stop, for a line of its own."""
    return verdict.reason


def sentence_style(verdict: Verdict) -> str:
    return _STYLES[verdict.action]


def remarks(verdict: Verdict) -> list[str]:
    """Ties, trade-offs, and what would decide the question: one line each."""
    return [f"- {note}" for note in verdict.notes]


def instructions(verdict: Verdict, *, everywhere: bool = False) -> list[str]:
    """The lines that apply the advice. Users copy them, so they must not be folded.

    Without `everywhere`, those for a shell alone.
    """
    return [f"  {line}" for line in (verdict.how if everywhere else _in_a_shell(verdict.how))]


def hint_at_places(verdict: Verdict) -> str:
    """Where the lines for other places than a shell are; "" if there are none."""
    return HINT if len(_in_a_shell(verdict.how)) < len(verdict.how) else ""


def _in_a_shell(lines: Sequence[str]) -> Sequence[str]:
    ends = [number for number, line in enumerate(lines) if line.startswith(OTHER_PLACES)]
    return lines[: ends[0]] if ends else lines

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answer in words: the verdict's sentence, what to know about it, and how to apply it."""

from heapwright.artefacts.comparison.document import Verdict

_STYLES = {"switch": "bold green", "stay": "bold", "undecided": "bold yellow"}


def sentence(verdict: Verdict) -> str:
    """The one sentence, without a full stop, so that it can stand in a line of its own."""
    return verdict.reason


def sentence_style(verdict: Verdict) -> str:
    return _STYLES[verdict.action]


def remarks(verdict: Verdict) -> list[str]:
    """Ties, trade-offs, what would settle the question: one line each."""
    return [f"- {note}" for note in verdict.notes]


def instructions(verdict: Verdict) -> list[str]:
    """The lines that apply the advice; they are meant to be copied, so nobody may fold them."""
    return [f"  {line}" for line in verdict.how]

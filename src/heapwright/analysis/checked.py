# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict on replays that verify memory: which allocators passed, and which did not."""

from collections.abc import Sequence

from heapwright.analysis.ratio_text import listed
from heapwright.artefacts.comparison.document import Verdict, label_of
from heapwright.artefacts.run.measured import Outcome, Run

NO_TIMES = "checks take time: to compare times, replay without --check"


def checked_verdict(runs: Sequence[Run]) -> Verdict:
    """One failed run of an allocator is enough to fail it. Warm-ups are checked as well."""
    labels = list(dict.fromkeys(label_of(run.allocator, run.level) for run in runs))
    failed = {label_of(r.allocator, r.level) for r in runs if r.outcome is not Outcome.OK}
    good = [label for label in labels if label not in failed]
    passed = (
        f"{listed(good)} returned aligned blocks that do not overlap and keep their contents"
        if good
        else ""
    )
    if not failed:
        return _verdict(f"Passed: {passed}")
    bad = listed([label for label in labels if label in failed])
    return _verdict(f"Failed: {bad} did not pass the checks{f'; {passed}' if passed else ''}")


def _verdict(reason: str) -> Verdict:
    return Verdict(action="undecided", allocator=None, reason=reason, notes=(NO_TIMES,))

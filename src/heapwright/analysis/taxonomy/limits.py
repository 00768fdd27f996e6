# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The limits of judgements, and how an interval is compared with one.

Every document contains them, and docs/reference/taxonomy.md states the source of each. A judgement
needs the whole interval on one side of its limit. Otherwise there is no judgement, and more runs
are needed.
"""

from heapwright.artefacts.taxonomy.document import Criteria, Estimate

CRITERIA = Criteria(
    fast=6.0,
    efficiency=0.65,
    traffic=100.0,
    sharing=1.0,
    unbounded=0.02,
    linear=0.25,
)
"""fast        time per operation in the limit's, at most
efficiency  speedup divided by threads, at least
traffic     hand-overs per thousand operations at the most threads, at most
sharing     shared lines per thousand allocations, at most
unbounded   bytes that memory grows by for each byte allocated, at most
linear      memory for each further thread in the program's own need, at most
"""


def too_few(estimate: Estimate | None) -> str:
    """Why an estimate does not decide, and what would."""
    if estimate is not None and estimate.runs == 1:
        return "one repetition shows no scatter: give -n 5 or more"
    return "the interval contains the limit: more repetitions would tell (-n)"


def exceeds(estimate: Estimate, limit: float) -> bool | None:
    """Whether it is above the limit; None where its interval does not say, or has none."""
    if estimate.low is None or estimate.high is None:
        return None
    if estimate.low > limit:
        return True
    return False if estimate.high <= limit else None

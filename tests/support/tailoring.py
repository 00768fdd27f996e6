# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The question of a search for a tailored allocator, for tests of its folder."""

from heapwright.artefacts.tailoring.folder import Question

QUESTION = Question(
    inputs=(),
    unseen=(),
    cwd="",
    name="own",
    peers=(),
    margin=0.02,
    headers="",
    compiler="",
    traces={},
    seed=1,
)

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From the runs of a factorial study to its analysis: pure functions, no input or output.

`analyse.analyse` makes the whole analysis. Each other module is one step.
docs/explanation/methods.md explains the methods.
"""

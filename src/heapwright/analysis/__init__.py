# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From runs to effects and a verdict: pure functions, no input or output.

`analyse.analyse` makes the whole analysis. Each other module is one step.
docs/explanation/methods.md explains the methods.
"""

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From runs to effects and a verdict: pure functions, no input or output.

`analyse.analyse` is the whole way; the other modules are one step each. docs/explanation/methods.md
says in words what they compute and why.
"""

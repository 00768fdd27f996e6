# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Synthetic loads: a profile becomes a plan, a plan a trace; and how far the trace is from its
model.

`costa` is the published recipe, `model` the default. Both write a `plan`, which the program
heapwright-synth draws from. `distances` compares two profiles.
"""

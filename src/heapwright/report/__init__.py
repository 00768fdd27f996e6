# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From artefacts to text: on a terminal, in a pipe, in a file.

Everything here is drawn from an artefact alone, so that a kept JSON document can be reported again
without running or analysing anything.
"""

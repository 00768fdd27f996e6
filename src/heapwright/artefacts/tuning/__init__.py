# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The artefacts of a search for settings: its folder of runs, and its answer."""

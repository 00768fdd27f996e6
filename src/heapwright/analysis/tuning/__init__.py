# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The search for settings of an allocator: screen, refine, race, confirm.

Pure functions of figures. `docs/reference/tune.md` states the rules.
"""

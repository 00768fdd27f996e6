# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Racing: drop candidates of a blocked experiment early, with a stated chance of error.

Pure functions of figures. `docs/explanation/racing.md` states the rules and proves the error rate.
"""

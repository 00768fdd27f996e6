# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Explanations, on profiles made by hand and on programs made for it."""

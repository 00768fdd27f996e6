# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Compositions in C++: type expressions, named aliases, and the headers of layers."""

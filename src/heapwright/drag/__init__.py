# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command and finds its drag: under valgrind, or rebuilt so that it tells its accesses."""

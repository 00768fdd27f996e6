#!/usr/bin/python3
# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The command `heapwright` of the package."""

from heapwright.__main__ import main

main()

# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What every part of the laboratory uses: errors, paths, scratch folders, heapwright's native
programs.

Modules here import nothing else of the package.
"""

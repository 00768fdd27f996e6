# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Names for addresses of code: `naming.named` gives them to a profile.

objects finds the files, elf_symbols and lines look addresses up in them, demangling makes C++ and
Rust names readable.
"""

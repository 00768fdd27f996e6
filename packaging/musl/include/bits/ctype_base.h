// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Character classes of the C++ headers, for a C library without tables of its own. Only compiled.
#pragma once

namespace std {
struct ctype_base {
    typedef const int* __to_type;
    typedef unsigned short mask;
    static const mask upper = 1 << 8, lower = 1 << 9, alpha = 1 << 10, digit = 1 << 11,
                      xdigit = 1 << 12;
    static const mask space = 1 << 13, print = 1 << 14, graph = (1 << 10) | (1 << 11) | (1 << 2);
    static const mask cntrl = 1 << 1, punct = 1 << 2, alnum = (1 << 10) | (1 << 11), blank = 1 << 0;
};
} // namespace std

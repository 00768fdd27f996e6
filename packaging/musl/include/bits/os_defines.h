// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The C library's part of the C++ headers' configuration, for musl instead of the GNU C library.
#pragma once
#define __NO_CTYPE 1

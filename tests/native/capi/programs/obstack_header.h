// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The line in which a program of the C library's obstacks and one of this project differ.
#pragma once

#ifdef WITH_HEAPWRIGHT
#include <heapwright/c/obstack.h>
#else
#include <obstack.h>
#endif

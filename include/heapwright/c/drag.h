/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Comes before every source that is rebuilt for drag (`heapwright drag --flags`). Strings and
 * streams are then compiled with the program, where they would be called in libstdc++, which was
 * not rebuilt. Its own header has the last word on that, so it is overruled after it. */
#if defined(__cplusplus) && __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif

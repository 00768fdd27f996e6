/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Included before every source that is rebuilt for drag (`heapwright drag --flags`). Strings and
 * streams are then compiled into the program. Otherwise the program would call them in libstdc++,
 * which is not rebuilt. libstdc++'s own header defines the macro, so this overrides it afterwards.
 */
#if defined(__cplusplus) && __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_EXTERN_TEMPLATE
#define _GLIBCXX_EXTERN_TEMPLATE 0
#endif

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Who provides malloc here? The answer is read from this object's own relocations for malloc, free
// and calloc, which the loader has bound before any code of ours runs (the object is linked with
// `-z now`). Neither `&malloc` nor dlsym would do: in a program that is not position-independent
// and takes the address of malloc, both give an entry in the program's own linkage table.
#pragma once

#include <cstddef>

namespace heapwright::witness {

struct Provider {
    char path[480]; ///< as the loader names it; "mixed: A, B" when free or calloc is another's
    bool isLibc;    ///< it is the object that also provides gnu_get_libc_version
};

/// Allocates nothing and leaves errno alone.
void findProvider(Provider& provider);

} // namespace heapwright::witness

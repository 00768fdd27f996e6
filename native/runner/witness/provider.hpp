// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Who provides malloc here? The answer is read from this object's own relocations for malloc, free
// and calloc, which the loader has bound before any code of ours runs (the object is linked with
// `-z now`). Neither `&malloc` nor dlsym would do: in a program that is not position-independent
// and takes the address of malloc, both give an entry in the program's own linkage table.
#pragma once

#include <cstddef>

namespace heapwright::runner::witness {

struct Provider {
    char path[480]; ///< as the loader names it; "mixed: A, B" when free or calloc is another's
    bool isLibc;    ///< it is the object that also provides gnu_get_libc_version
};

/// `program` is the path of the program, which the loader has no name for. Allocates nothing and
/// leaves errno alone. Cost: one walk over the loaded objects; dladdr, which looks through all
/// symbols of an object, would cost twenty times as much.
void findProvider(Provider& provider, const char* program);

} // namespace heapwright::runner::witness

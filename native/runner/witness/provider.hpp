// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the provider of malloc in this process. It reads this object's own relocations for malloc,
// free and calloc. The loader has bound them before any code of the witness runs (the object is
// linked with `-z now`). `&malloc` and dlsym are unreliable: in a non-PIE program that takes the
// address of malloc, both give an entry in the program's own linkage table.
#pragma once

#include <cstddef>

namespace heapwright::runner::witness {

struct Provider {
    char path[480]; ///< the loader's path; "mixed: A, B" if free or calloc is another object's
    bool isLibc;    ///< the same object also provides gnu_get_libc_version
};

/// `program` is the path of the program, for which the loader has no name. Allocates nothing and
/// keeps errno.
/// Cost: one walk over the loaded objects. dladdr searches all symbols of an object and would cost
/// twenty times as much.
void findProvider(Provider& provider, const char* program);

} // namespace heapwright::runner::witness

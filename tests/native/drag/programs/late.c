/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Opens a library after its beginning, and lets it allocate.
 */
#include "use.h"

#include <dlfcn.h>
#include <string.h>

int main(int count, char** words) {
    void* const library = dlopen(count > 1 ? words[1] : "", RTLD_NOW);
    if (library == NULL) {
        return 1;
    }
    void* (*make)(size_t);
    void* const found = dlsym(library, "makeLate");
    memcpy(&make, &found, sizeof found);
    use(make(12345));
    return 0;
}

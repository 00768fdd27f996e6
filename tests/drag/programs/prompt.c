/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each object is freed when it was used: there is no drag.
 */
#include "use.h"

int main(void) {
    for (size_t i = 0; i < 50; ++i) {
        void* const object = malloc(100 + i);
        use(object);
        free(object);
    }
    return 0;
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tight loop of malloc and free, as many pairs as the argument says. */
#include <stdlib.h>

int main(int count, char** arguments) {
    const int pairs = atoi(arguments[count - 1]);
    for (int i = 0; i < pairs; ++i) {
        void* volatile block = malloc(100);
        free(block);
    }
    return 0;
}

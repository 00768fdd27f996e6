/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call of malloc that the dynamic linker binds like any other. It has a file of its own, so that
 * the compiler does not bind it to the malloc of this library.
 */
#include <stdlib.h>

void heapwrightProbe(void);

void heapwrightProbe(void) {
    free(malloc(1));
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * A call of malloc that the dynamic linker binds as it binds everybody's. It stands by itself, so
 * that no compiler takes the malloc beside it instead.
 */
#include <stdlib.h>

void heapwrightProbe(void);

void heapwrightProbe(void) {
    free(malloc(1));
}

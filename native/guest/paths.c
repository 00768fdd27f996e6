/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The path lengths: each kind of object is created and removed many times, and the mean time of a
 * pair is recorded. In virtual time that is the number of instructions.
 */
#include "guest.h"

void paths(void) {
    uint64_t rounds = number("rounds", 2000);
    makeFolders();
    for (enum kind kind = 0; kind < KINDS; ++kind) {
        uint64_t times = kind == PROCESS ? rounds / 10 + 1 : rounds;
        struct object object;
        for (uint64_t at = 0; at < times / 10; ++at) { /* warms the allocator's caches */
            if (makeObject(&object, kind) == 0) {
                removeObject(&object);
            }
        }
        uint64_t begin = now();
        for (uint64_t at = 0; at < times; ++at) {
            if (makeObject(&object, kind) != 0) {
                fail(nameOf(kind));
            }
            removeObject(&object);
        }
        uint64_t end = now();
        beginRecord("path");
        addText("object", nameOf(kind));
        addNumber("times", times);
        addNumber("ns", end - begin);
        endRecord();
        sample("paths");
    }
}

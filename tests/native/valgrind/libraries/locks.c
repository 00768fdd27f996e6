/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * malloc executes two instructions with a lock prefix (behind other prefixes, too) and none that
 * exchanges. Its free executes one that exchanges with memory, and one that exchanges registers. It
 * also executes one whose second byte only looks like a prefix. Each locks a word of the calling
 * thread.
 */
#include "bump.h"

static _Thread_local long word;

static void onMalloc(void) {
    __asm__ volatile("lock addq $1, %0\n\t"
                     "lock addw $1, %0"
                     : "+m"(word)
                     :
                     : "cc", "memory");
}

static void onFree(void* object) {
    uintptr_t value = (uintptr_t)object;
    __asm__ volatile("xchgq %1, %0\n\t"
                     "xchgq %1, %%rcx\n\t"
                     "addb $0xF0, %%cl"
                     : "+m"(word), "+r"(value)
                     :
                     : "rcx", "cc", "memory");
}

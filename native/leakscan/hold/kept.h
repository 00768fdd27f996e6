/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The contents of large blocks that the program freed. glibc unmaps such a block at once, so a
 * search at the end could not read the pointers in it. The preloaded library keeps the pages of the
 * last ones. The search reads this table in the memory of the process.
 *
 * Invariant: the table begins a range that the recorder has registered as its own memory. The pages
 * of all kept blocks lie behind it in this range.
 */
#pragma once

#include <stdint.h>

#define HEAPWRIGHT_KEPT_MAGIC UINT64_C(0x7470656b70616568)

enum {
    keptBlocks = 64,       /* the newest ones */
    keptHeader = 16,       /* bytes of a mapped chunk before its object */
    keptLargest = 32 << 20 /* bytes of a block */
};

struct KeptBlock {
    uint64_t object; /* its address before; 0: none */
    uint64_t copy;   /* where its contents are now */
    uint64_t bytes;  /* of the contents */
};

struct KeptTable {
    uint64_t magic;
    uint64_t next; /* number of the next block; blocks[next % keptBlocks] is the oldest */
    struct KeptBlock blocks[keptBlocks];
};

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The core alone, as a subject to count.
#include "kingsley_core.h"
#include "subject.h"

static struct Core core;

void* subjectMalloc(size_t size) {
    return coreMalloc(&core, size);
}

void subjectFree(void* object) {
    coreFree(&core, object);
}

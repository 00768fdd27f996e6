// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The load of a parser on an obstack, the same for every obstack. Symbols grow letter by letter,
// strings by pieces. Each gets a node in its scope. A scope ends by freeing its first object. The
// including file defines the operations:
//
//   GROW_CHAR(c)  GROW(bytes, size)  FINISH()  ALLOCATE(size)  FREE(object)
#pragma once

#include "subject.h"

#include <stdint.h>

enum { kDeepest = 64 };

struct Node {
    struct Node* before;
    const char* name;
    size_t length;
};

/// Adds a string to its end, by pieces. Returns the position after it.
static inline const char* parseString(const char* at) {
    for (;;) {
        size_t size = 0;
        while (size < subjectPiece && at[size] != ' ' && at[size] != 0)
            ++size;
        GROW(at, size);
        at += size;
        if (size < subjectPiece)
            return at;
    }
}

static inline const char* parseSymbol(const char* at) {
    for (; *at >= 'a' && *at <= 'z'; ++at)
        GROW_CHAR(*at);
    return at;
}

/// A number that depends on every name in every scope.
static inline size_t digest(const struct Node* node) {
    size_t sum = 0;
    for (; node != NULL; node = node->before)
        sum = sum * 31 + node->length + (size_t)node->name[node->length - 1];
    return sum;
}

size_t subjectParse(const char* text, size_t length) {
    struct Node* scopes[kDeepest];
    void* marks[kDeepest];
    size_t deep = 0;
    size_t sum = 0;
    scopes[0] = NULL;
    marks[0] = ALLOCATE(1);
    for (const char* at = text; at < text + length;) {
        if (*at == '{') {
            ++deep;
            scopes[deep] = NULL;
            marks[deep] = ALLOCATE(1);
            ++at;
        } else if (*at == '}') {
            sum += digest(scopes[deep]);
            FREE(marks[deep]);
            --deep;
            ++at;
        } else {
            const char* end = *at == '"' ? parseString(at + 1) : parseSymbol(at);
            size_t size = (size_t)(end - at) - (*at == '"');
            GROW_CHAR(0);
            const char* name = (const char*)FINISH();
            struct Node* node = (struct Node*)ALLOCATE(sizeof(struct Node));
            node->before = scopes[deep];
            node->name = name;
            node->length = size;
            scopes[deep] = node;
            at = end + 1;
        }
    }
    sum += digest(scopes[0]);
    FREE(marks[0]);
    return sum;
}

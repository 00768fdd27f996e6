// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "code.h"

#include <string.h>

struct Text* textCopy(const struct CalculatorPool* pool, const char* bytes, size_t length) {
    struct Text* copy = poolAllocate(pool, sizeof *copy + length);
    if (copy == NULL)
        return NULL;
    copy->length = length;
    memcpy(copy->bytes, bytes, length);
    return copy;
}

static size_t bucketOf(const char* text, size_t length) {
    size_t mixed = length;
    for (size_t i = 0; i < length; ++i)
        mixed = mixed * 31 + (unsigned char)text[i];
    return mixed % kBuckets;
}

static struct Name* add(const struct CalculatorPool* pool, struct Names* names, const char* text,
                        size_t length) {
    if (!poolGrow(pool, &names->all, names->count, 1, sizeof *names->all, &names->room))
        return NULL;
    struct Name* made = poolAllocate(pool, sizeof *made);
    struct Text* spelling = textCopy(pool, text, length);
    if (made == NULL || spelling == NULL) {
        poolRelease(pool, made);
        poolRelease(pool, spelling);
        return NULL;
    }
    struct Name** bucket = &names->buckets[bucketOf(text, length)];
    *made = (struct Name){.next = *bucket, .index = (uint32_t)names->count, .text = spelling};
    *bucket = made;
    names->all[names->count++] = made;
    return made;
}

struct Name* namesFind(const struct CalculatorPool* pool, struct Names* names, const char* text,
                       size_t length) {
    for (struct Name* name = names->buckets[bucketOf(text, length)]; name; name = name->next) {
        if (name->text->length == length && memcmp(name->text->bytes, text, length) == 0)
            return name;
    }
    return add(pool, names, text, length);
}

void codeClear(struct Arithmetic* arithmetic, struct Code* code) {
    for (size_t i = 0; i < code->constantCount; ++i)
        numberDrop(arithmetic, code->constants[i]);
    for (size_t i = 0; i < code->textCount; ++i)
        poolRelease(arithmetic->pool, code->texts[i]);
    poolRelease(arithmetic->pool, code->words);
    poolRelease(arithmetic->pool, code->constants);
    poolRelease(arithmetic->pool, code->texts);
    *code = (struct Code){.words = NULL};
}

void functionDestroy(struct Arithmetic* arithmetic, struct Function* function) {
    if (function == NULL)
        return;
    codeClear(arithmetic, &function->code);
    poolRelease(arithmetic->pool, function->locals);
    poolRelease(arithmetic->pool, function);
}

void arrayDestroy(struct Arithmetic* arithmetic, struct Array* array) {
    if (array == NULL)
        return;
    for (size_t i = 0; i < array->length; ++i)
        numberDrop(arithmetic, array->elements[i]);
    poolRelease(arithmetic->pool, array->elements);
    poolRelease(arithmetic->pool, array);
}

void namesDestroy(struct Arithmetic* arithmetic, struct Names* names) {
    for (size_t i = 0; i < names->count; ++i) {
        struct Name* name = names->all[i];
        numberDrop(arithmetic, name->value);
        arrayDestroy(arithmetic, name->array);
        functionDestroy(arithmetic, name->function);
        poolRelease(arithmetic->pool, name->text);
        poolRelease(arithmetic->pool, name);
    }
    poolRelease(arithmetic->pool, names->all);
    *names = (struct Names){.all = NULL};
}

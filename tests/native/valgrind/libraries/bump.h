/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The common part of the constructed allocators. Each thread takes memory from an area of its own
 * and never locks. It writes nothing but a thread-local position and the size before each object.
 * An allocator says what else its malloc and free do, in `onMalloc` and `onFree`.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static void onMalloc(void);
static void onFree(void* object);

static _Thread_local char* position;
static _Thread_local char* end;

static void* take(size_t size) {
    const size_t rounded = (size + 16 + 63) / 64 * 64;
    if (size > 1 << 20) {
        errno = ENOMEM;
        return NULL;
    }
    if (position == NULL || rounded > (size_t)(end - position)) {
        position = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        end = position + (4 << 20);
    }
    char* const object = position + 16;
    position += rounded;
    memcpy(object - 16, &size, sizeof size);
    return object;
}

void* malloc(size_t size) {
    onMalloc();
    return take(size);
}

void* calloc(size_t count, size_t size) {
    return take(count * size);
}

void* realloc(void* object, size_t size) {
    size_t held = 0;
    void* const fresh = take(size);
    if (object != NULL) {
        memcpy(&held, (char*)object - 16, sizeof held);
        memcpy(fresh, object, held < size ? held : size);
    }
    return fresh;
}

void free(void* object) {
    if (object != NULL) {
        onFree(object);
    }
}

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Misuse of user heaps, one mistake a routine. After `aborts:` stand the words with which a program
// that makes it must die, with any of the libraries.
#include <support/mistakes.h>

#include <heapwright/c/heap.h>
#include <stdlib.h>

static struct heapwright_heap* made(void) {
    return heapwright_heap_create("misused", HEAPWRIGHT_HEAP_UNLIMITED);
}

// An object freed to another heap.
// aborts: heapwright: heap_free(): object of another heap
MISTAKE(free_to_another) {
    void* object = heapwright_heap_malloc(made(), 100);
    heapwright_heap_free(made(), object);
}

// A large object freed to another heap.
// aborts: heapwright: heap_free(): object of another heap
MISTAKE(large_to_another) {
    void* object = heapwright_heap_malloc(made(), 100000);
    heapwright_heap_free(made(), object);
}

// An object of malloc.
// aborts: heapwright: heap_free(): object of another heap
MISTAKE(free_of_malloc) {
    heapwright_heap_free(made(), malloc(100));
}

// An object freed twice.
// aborts: heapwright: heap_free(): use of a freed object
MISTAKE(double_free) {
    struct heapwright_heap* heap = made();
    void* object = heapwright_heap_malloc(heap, 100);
    void* other = heapwright_heap_malloc(heap, 100);
    heapwright_heap_free(heap, object);
    heapwright_heap_free(heap, object);
    heapwright_heap_free(heap, other);
}

// A large object freed twice.
// aborts: heapwright: heap_free(): use of a freed object
MISTAKE(double_free_large) {
    struct heapwright_heap* heap = made();
    void* object = heapwright_heap_malloc(heap, 100000);
    heapwright_heap_free(heap, object);
    heapwright_heap_free(heap, object);
}

// The inside of an object.
// aborts: heapwright: heap_free(): invalid pointer
MISTAKE(free_inside) {
    struct heapwright_heap* heap = made();
    char* object = heapwright_heap_malloc(heap, 100);
    heapwright_heap_free(heap, object + 16);
}

// An object freed after its heap was cleared.
// aborts: heapwright: heap_free(): object of another heap
MISTAKE(free_after_clear) {
    struct heapwright_heap* heap = made();
    void* object = heapwright_heap_malloc(heap, 100);
    heapwright_heap_clear(heap);
    heapwright_heap_free(heap, object);
}

// A freed object resized.
// aborts: heapwright: heap_realloc(): use of a freed object
MISTAKE(resize_freed) {
    struct heapwright_heap* heap = made();
    void* object = heapwright_heap_malloc(heap, 100);
    void* other = heapwright_heap_malloc(heap, 100);
    heapwright_heap_free(heap, object);
    other = heapwright_heap_realloc(heap, object, 200);
    heapwright_heap_free(heap, other);
}

// The size of an object of another heap.
// aborts: heapwright: heap_size(): object of another heap
MISTAKE(size_of_another) {
    void* object = heapwright_heap_malloc(made(), 100);
    exit((int)heapwright_heap_size(made(), object));
}

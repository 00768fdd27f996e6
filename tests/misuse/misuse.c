// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Misuse of the heap, one mistake a routine. After `aborts:` stand the words with which a program
// that makes it must die, and after `under NAME:` how it ends under that allocator instead.
#include <support/mistakes.h>

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Weak, since not every C library has them to link with.
__attribute__((weak)) void cfree(void* object);
__attribute__((weak)) void free_aligned_sized(void* object, size_t alignment, size_t size);
__attribute__((weak)) void free_sized(void* object, size_t size);

// A small object, freed twice in a row.
// aborts: heapwright: free(): double free
// under granary, granary-strict: nothing
MISTAKE(double_free) {
    void* object = malloc(24);
    free(object);
    free(object);
}

// An aligned object, freed twice.
// aborts: heapwright: free(): double free
// under granary, granary-strict: nothing
MISTAKE(double_free_aligned) {
    void* object = aligned_alloc(1024, 100);
    free(object);
    free(object);
}

// An object of calloc, freed twice, the second time by cfree.
// aborts: heapwright: free(): double free
// under granary, granary-strict: nothing
MISTAKE(double_free_calloc) {
    void* object = calloc(10, 10);
    free(object);
    cfree(object);
}

// A large object, freed twice. Where it had a mapping of its own, that is gone.
// aborts: heapwright: free(): double free
// under lea, reap, concurrent, mtmalloc, private, ptmalloc2, ptmalloc3, serial, winxp, hoard,
//   hoard-3.8, hoard-clean, nedmalloc, miser, lkmalloc, thresholds, granary,
//   granary-strict: SIGSEGV
MISTAKE(double_free_large) {
    void* object = malloc(10000000);
    free(object);
    free(object);
}

// Freed again after others were.
// aborts: heapwright: free(): double free
// under granary, granary-strict: nothing
MISTAKE(double_free_later) {
    void* object = malloc(24);
    void* other = malloc(24);
    free(object);
    free(other);
    free(malloc(500));
    free(object);
}

// A medium object, freed twice.
// aborts: heapwright: free(): double free
// under hoard, hoard-clean: SIGSEGV
// under granary, granary-strict: nothing
MISTAKE(double_free_medium) {
    void* object = malloc(5000);
    free(object);
    free(object);
}

// Freed again when its block has long been merged with its neighbours.
// aborts: heapwright: free(): double free
// under granary, granary-strict: nothing
MISTAKE(double_free_merged) {
    void* before = malloc(2000);
    void* object = malloc(2000);
    void* after = malloc(2000);
    free(before);
    free(after);
    free(object);
    free(object);
}

static void* release(void* object) {
    free(object);
    return NULL;
}

// Freed by another thread, then again here.
// aborts: heapwright: free(): double free
// under granary, granary-strict: nothing
MISTAKE(double_free_thread) {
    void* object = malloc(200);
    pthread_t thread;
    pthread_create(&thread, NULL, release, object);
    pthread_join(thread, NULL);
    free(object);
}

// realloc to zero bytes has freed it already.
// aborts: heapwright: free(): double free
// under granary, granary-strict: nothing
MISTAKE(free_after_realloc_zero) {
    void* object = malloc(100);
    if (realloc(object, 0) == NULL) {
        free(object);
    }
}

// An alignment that the object does not have.
// aborts: heapwright: free_aligned_sized(): the alignment is not the object's
MISTAKE(free_aligned_sized_alignment) {
    char* first = malloc(100);
    char* second = malloc(100);
    // Two objects so small cannot both have an alignment of a gigabyte.
    free_aligned_sized((size_t)first % (1 << 30) != 0 ? first : second, 1 << 30, 100);
}

// An alignment that the object has by chance, although another was requested.
// aborts: nothing
// under granary-hardened: heapwright: free_aligned_sized(): the alignment is not the object's
MISTAKE(free_aligned_sized_other_alignment) {
    free_aligned_sized(aligned_alloc(256, 100), 64, 100);
}

// A size that the aligned object cannot have been given.
// aborts: heapwright: free_aligned_sized(): the size is larger than the object
//
// under granary-hardened: heapwright: free_aligned_sized(): the size is not the object's
MISTAKE(free_aligned_sized_larger) {
    free_aligned_sized(aligned_alloc(64, 100), 64, 50000);
}

// An address that is aligned to 8 bytes only.
// aborts: heapwright: free(): invalid pointer
// under granary, granary-strict: nothing
MISTAKE(free_half_aligned) {
    char* object = malloc(100);
    free(object + 8);
}

// An address inside an object.
// aborts: heapwright: free(): invalid pointer
// under granary, granary-strict: nothing
MISTAKE(free_interior) {
    char* object = calloc(1, 100);
    free(object + 16);
}

// An address inside an aligned object.
// aborts: heapwright: free(): invalid pointer
// under granary, granary-strict: nothing
MISTAKE(free_interior_of_aligned) {
    char* object = aligned_alloc(4096, 500);
    memset(object, 0, 500);
    free(object + 64);
}

// An address that no object can have.
// aborts: heapwright: free(): invalid pointer
// under granary, granary-strict: nothing
MISTAKE(free_misaligned) {
    char* object = malloc(100);
    free(object + 1);
}

// A size that the object cannot have been given.
// aborts: heapwright: free_sized(): the size is larger than the object
//
// under granary-hardened: heapwright: free_sized(): the size is not the object's
MISTAKE(free_sized_larger) {
    free_sized(malloc(100), 5000);
}

// A smaller size than the requested one.
// aborts: nothing
// under granary-hardened: heapwright: free_sized(): the size is not the object's
MISTAKE(free_sized_smaller) {
    free_sized(malloc(100), 99);
}

// An aligned object is freed as one without a special alignment.
// aborts: nothing
// under granary-hardened: heapwright: free_sized(): the alignment is not the object's
MISTAKE(free_sized_of_aligned) {
    free_sized(aligned_alloc(4096, 100), 100);
}

// An object that was freed, with its size.
// aborts: heapwright: malloc_usable_size(): use of a freed object
// under granary, granary-strict: nothing
//
// under granary-hardened: heapwright: free_sized(): double free
MISTAKE(free_sized_twice) {
    void* object = malloc(100);
    free_sized(object, 100);
    free_sized(object, 100);
}

// An address on the stack.
// aborts: heapwright: free(): invalid pointer
MISTAKE(free_stack) {
    _Alignas(16) char array[64] = {0};
    free(array + 32);
}

static _Alignas(32768) char array[64];

// The address of a static variable. It is aligned, since granary looks at the start of a pointer's
// 32 KiB first. Where nothing is mapped there, a fault ends the program.
// aborts: heapwright: free(): invalid pointer
MISTAKE(free_static) {
    free(array + 32);
}

// The object before this one was written over its end; all others are freed after it.
// aborts: heapwright: free(): invalid pointer
// under hoard, hoard-3.8, hoard-clean, lkmalloc, thresholds, miser, granary, granary-strict, slab,
//   slob, slub, slqb: nothing
// under granary-hardened: heapwright: free(): overflow
MISTAKE(overflow) {
    char* objects[64];
    for (int i = 0; i < 64; ++i) {
        objects[i] = malloc(40);
    }
    size_t room = malloc_usable_size(objects[0]);
    // Only neighbours can be hurt; some are, even where requests are spread over many heaps.
    for (int i = 0; i < 64 * 64; ++i) {
        char* before = objects[i / 64];
        char* object = objects[i % 64];
        if (before != NULL && object == before + room + 8) {
            memset(before, 'A', room + 8);
            free(object);
            objects[i % 64] = NULL;
        }
    }
    for (int i = 0; i < 64; ++i) {
        free(objects[i]);
    }
}

// An object that was freed is resized.
// aborts: heapwright: realloc(): use of a freed object
// under granary, granary-strict: nothing
MISTAKE(realloc_freed) {
    void* object = malloc(100);
    free(object);
    object = realloc(object, 200);
}

// An address inside an object is resized.
// aborts: heapwright: realloc(): invalid pointer
// under granary, granary-strict: nothing
MISTAKE(realloc_interior) {
    char* object = calloc(1, 100);
    object = realloc(object + 16, 200);
}

// An address on the stack is resized.
// aborts: heapwright: realloc(): invalid pointer
MISTAKE(realloc_stack) {
    _Alignas(16) char array[64] = {0};
    realloc(array + 32, 100);
}

#define _GNU_SOURCE

// An array that was freed is resized.
// aborts: heapwright: realloc(): use of a freed object
// under granary, granary-strict: nothing
MISTAKE(reallocarray_freed) {
    void* object = malloc(100);
    free(object);
    object = reallocarray(object, 10, 20);
}

// The word before the object was overwritten.
// aborts: heapwright: free(): invalid pointer
// under hoard, hoard-3.8, hoard-clean, lkmalloc, thresholds, miser, granary, granary-strict,
//   granary-hardened, slab, slob, slub, slqb: nothing
MISTAKE(underflow) {
    char* object = malloc(40);
    memset(object - 8, 'A', 8);
    free(object);
}

// The size of an object that was freed.
// aborts: heapwright: malloc_usable_size(): use of a freed object
// under granary, granary-strict: nothing
MISTAKE(usable_size_freed) {
    void* object = malloc(100);
    free(object);
    malloc_usable_size(object);
}

// The size of what is no object.
// aborts: heapwright: malloc_usable_size(): invalid pointer
// under granary, granary-strict: nothing
MISTAKE(usable_size_interior) {
    char* object = calloc(1, 100);
    malloc_usable_size(object + 32);
}

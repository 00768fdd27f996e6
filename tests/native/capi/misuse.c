// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Misuse of reaps and regions, one mistake a routine. After `aborts:` stand the words with which a
// program that makes it must die.
#include <support/mistakes.h>

#include <heapwright/c/reap.h>
#include <heapwright/c/region.h>
#include <stdlib.h>

// A destroyed region cleared.
// aborts: heapwright: region_clear(): destroyed region
MISTAKE(clear_destroyed) {
    struct heapwright_region* region = heapwright_region_create(NULL);
    heapwright_region_destroy(region);
    heapwright_region_clear(region);
}

// A reap inside a destroyed one.
// aborts: heapwright: reap_create(): destroyed reap
MISTAKE(create_in_destroyed) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    heapwright_reap_destroy(reap);
    heapwright_reap_create(reap);
}

// A reap destroyed after its parent, and with it.
// aborts: heapwright: reap_destroy(): reap destroyed with its parent
MISTAKE(destroy_after_parent) {
    struct heapwright_reap* parent = heapwright_reap_create(NULL);
    struct heapwright_reap* reap = heapwright_reap_create(parent);
    heapwright_reap_destroy(parent);
    heapwright_reap_destroy(reap);
}

// A reap destroyed twice.
// aborts: heapwright: reap_destroy(): destroyed reap
MISTAKE(destroy_twice) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    heapwright_reap_destroy(reap);
    heapwright_reap_destroy(reap);
}

// An object freed twice, with others in between.
// aborts: heapwright: reap_free(): double free
MISTAKE(double_free) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_free(reap, object);
    for (int i = 0; i < 1000; ++i)
        heapwright_reap_free(reap, heapwright_reap_malloc(reap, 100));
    heapwright_reap_free(reap, object);
}

// An object freed after its reap was cleared.
// aborts: heapwright: reap_free(): free after clear
MISTAKE(free_after_clear) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_clear(reap);
    heapwright_reap_free(reap, object);
}

// An object freed into the parent after the clearing of the child whose it was.
// aborts: heapwright: reap_free(): free after clear
MISTAKE(free_after_clear_of_child) {
    struct heapwright_reap* parent = heapwright_reap_create(NULL);
    struct heapwright_reap* reap = heapwright_reap_create(parent);
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_clear(reap);
    heapwright_reap_free(parent, object);
}

// An object freed into a reap that went with its parent.
// aborts: heapwright: reap_free(): reap destroyed with its parent
MISTAKE(free_after_parent) {
    struct heapwright_reap* parent = heapwright_reap_create(NULL);
    struct heapwright_reap* reap = heapwright_reap_create(heapwright_reap_create(parent));
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_destroy(parent);
    heapwright_reap_free(reap, object);
}

// An address inside an object.
// aborts: heapwright: reap_free(): pointer inside an object
MISTAKE(interior) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    char* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_free(reap, object + 16);
}

// An object from a destroyed reap.
// aborts: heapwright: reap_malloc(): destroyed reap
MISTAKE(malloc_destroyed) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    heapwright_reap_destroy(reap);
    heapwright_reap_malloc(reap, 100);
}

// An object of malloc freed to a reap.
// aborts: heapwright: reap_free(): invalid pointer
MISTAKE(malloced) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    heapwright_reap_free(reap, malloc(100));
}

// An object of a region freed to a reap.
// aborts: heapwright: reap_free(): object of a region
MISTAKE(object_of_a_region) {
    struct heapwright_region* region = heapwright_region_create(NULL);
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    heapwright_reap_free(reap, heapwright_region_alloc(region, 100));
}

// A byte written behind an object.
// aborts: heapwright: reap_free(): overflow
MISTAKE(overflow) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    char* object = heapwright_reap_malloc(reap, 100);
    object[100] = 1;
    heapwright_reap_free(reap, object);
}

// A byte written behind an object of a region, found when that goes.
// aborts: heapwright: region_destroy(): overflow
MISTAKE(overflow_in_region) {
    struct heapwright_region* region = heapwright_region_create(NULL);
    char* object = heapwright_region_alloc(region, 100);
    object[101] = 1;
    heapwright_region_destroy(region);
}

// Another size for a freed object.
// aborts: heapwright: reap_realloc(): use of a freed object
MISTAKE(realloc_freed) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_free(reap, object);
    heapwright_reap_realloc(reap, object, 200);
}

// The old address of an object that was given another size.
// aborts: heapwright: reap_free(): double free
MISTAKE(realloc_stale) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    void* object = heapwright_reap_malloc(reap, 100);
    void* same = heapwright_reap_realloc(reap, object, 90);
    heapwright_reap_free(reap, same == NULL ? NULL : object);
}

// A region used after the one that it was in was cleared.
// aborts: heapwright: region_alloc(): region destroyed with its parent
MISTAKE(region_after_clear_of_parent) {
    struct heapwright_region* parent = heapwright_region_create(NULL);
    struct heapwright_region* region = heapwright_region_create(parent);
    heapwright_region_clear(parent);
    heapwright_region_alloc(region, 100);
}

// A region where a reap is wanted.
// aborts: heapwright: reap_clear(): not a reap
MISTAKE(region_as_reap) {
    heapwright_reap_clear((struct heapwright_reap*)heapwright_region_create(NULL));
}

// The size of an object that has gone.
// aborts: heapwright: reap_size(): use after clear
MISTAKE(size_after_clear) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    void* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_clear(reap);
    heapwright_reap_size(reap, object);
}

// A byte written to a freed object, found at the end of the program.
// aborts: heapwright: free(): use after free
MISTAKE(write_after_free) {
    struct heapwright_reap* reap = heapwright_reap_create(NULL);
    char* object = heapwright_reap_malloc(reap, 100);
    heapwright_reap_free(reap, object);
    object[50] = 1;
}

// An object freed to the parent of its reap.
// aborts: heapwright: reap_free(): object of another reap
MISTAKE(wrong_reap) {
    struct heapwright_reap* parent = heapwright_reap_create(NULL);
    struct heapwright_reap* reap = heapwright_reap_create(parent);
    heapwright_reap_free(parent, heapwright_reap_malloc(reap, 100));
}

// An object of a shared reap freed to another.
// aborts: heapwright: reap_free(): object of another reap
MISTAKE(wrong_shared_reap) {
    struct heapwright_reap* one = heapwright_reap_create_shared(NULL);
    struct heapwright_reap* other = heapwright_reap_create_shared(NULL);
    heapwright_reap_free(one, heapwright_reap_malloc(other, 100));
}

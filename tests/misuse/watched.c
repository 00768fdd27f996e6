// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The mistakes of docs/reference/misuse.md, which says how each ends.
#include <support/mistakes.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Weak, since not every C library has them to link with.
__attribute__((weak)) void free_aligned_sized(void* object, size_t alignment, size_t size);
__attribute__((weak)) void free_sized(void* object, size_t size);

// Freed twice.
MISTAKE(double_free) {
    void* object = malloc(24);
    free(object);
    free(object);
}

// Freed twice; then the program requests objects of its size.
MISTAKE(double_free_then_malloc) {
    void* object = malloc(24);
    free(object);
    free(object);
    void* one = malloc(24);
    void* other = malloc(24);
    if (one == other) {
        fprintf(stderr, "reads one object twice\n");
    }
}

// Freed again after a hundred others of its size.
MISTAKE(double_free_later) {
    void* object = malloc(24);
    free(object);
    for (int i = 0; i < 100; ++i) {
        free(malloc(24));
    }
    free(object);
}

// A large object is freed twice; another was freed in between.
MISTAKE(double_free_of_large) {
    void* object = malloc(100000);
    void* other = malloc(100000);
    free(object);
    free(other);
    free(object);
}

// An address inside an object.
MISTAKE(interior_free) {
    char* object = calloc(1, 100);
    free(object + 16);
}

// An address far inside a large object.
MISTAKE(interior_free_of_large) {
    char* object = calloc(1, 1000000);
    free(object + 524288);
}

static _Alignas(32768) char array[64];

// The address of a static variable. It is aligned, since granary looks at the start of a pointer's
// 32 KiB first: where nothing is mapped there, a fault ends the program.
MISTAKE(invalid_free) {
    free(array + 32);
}

// A string that has no room for its end.
MISTAKE(overflow_by_nul) {
    const char* text = "forty characters and not a single one mo";
    char* object = malloc(strlen(text));
    strcpy(object, text);
    free(object);
}

// One byte beyond the end, where the object's block has some left.
MISTAKE(overflow_by_one) {
    volatile char* object = malloc(40);
    object[40] ^= 1;
    free((void*)object);
}

// One byte beyond the end of an object whose size is a multiple of 16.
MISTAKE(overflow_by_one_exact) {
    volatile char* object = malloc(48);
    object[48] ^= 1;
    free((void*)object);
}

// Byte after byte behind an object is written, beyond what a superblock takes.
MISTAKE(overflow_far) {
    volatile char* object = malloc(100);
    for (int i = 0; i < 40000; ++i) {
        object[i] = 1;
    }
}

// One byte beyond the end of a large object.
MISTAKE(overflow_of_large) {
    volatile char* object = malloc(100001);
    object[100001] ^= 1;
    free((void*)object);
}

// One byte is read beyond the end of an object whose size is a multiple of 16.
MISTAKE(overflow_read) {
    volatile char* object = malloc(48);
    (void)object[48];
    free((void*)object);
}

enum { count = 20000 };
static long* volatile objects[count];

// Every other one of many objects is freed. Then the first word of each of these is overwritten,
// where a list of freed objects may have its link. Three more are requested.
MISTAKE(overwritten_link) {
    for (int i = 0; i < count; ++i) {
        objects[i] = malloc(48);
    }
    for (int i = 0; i < count; i += 2) {
        free(objects[i]);
    }
    for (int i = 0; i < count; i += 2) {
        *objects[i] = 0x4141414141414141;
    }
    for (int i = 0; i < 3; ++i) {
        *(char*)malloc(48) = 1;
    }
}

// A byte of a freed object is read, and printed.
MISTAKE(read_after_free) {
    char* object = malloc(100);
    memset(object, 'A', 100);
    free(object);
    fprintf(stderr, "reads %02x\n", ((volatile unsigned char*)object)[50]);
}

// A byte of a new object is read, and printed.
MISTAKE(read_before_write) {
    unsigned char* object = malloc(5000);
    fprintf(stderr, "reads %02x\n", ((volatile unsigned char*)object)[50]);
    free(object);
}

// An object that was freed is resized.
MISTAKE(realloc_after_free) {
    void* object = malloc(100);
    free(object);
    object = realloc(object, 200);
}

// The word before the object is overwritten.
MISTAKE(underflow) {
    char* object = malloc(40);
    memset(object - 8, 'A', 8);
    free(object);
}

// A byte of a freed object is changed; then ten thousand others are freed.
MISTAKE(write_after_free) {
    volatile char* object = malloc(100);
    free((void*)object);
    object[50] ^= 1;
    for (int i = 0; i < 10000; ++i) {
        free(malloc(1000));
    }
}

// A byte of a freed large object is changed; then ten thousand others are freed.
MISTAKE(write_after_free_of_large) {
    volatile char* object = malloc(100000);
    free((void*)object);
    object[50000] ^= 1;
    for (int i = 0; i < 10000; ++i) {
        free(malloc(1000));
    }
}

// A byte is written to an object of zero bytes.
MISTAKE(write_of_zero_bytes) {
    char* object = malloc(0);
    object[0] = 'A';
    free(object);
}

// The first byte of an object of zero bytes is read.
MISTAKE(read_of_zero_bytes) {
    volatile unsigned char* object = malloc(0);
    (void)object[0];
}

// What earlier objects of the same size contained: four bytes in a row.
MISTAKE(read_of_recycled_memory) {
    unsigned char* objects[2000];
    for (int i = 0; i < 2000; ++i) {
        objects[i] = malloc(200);
        memset(objects[i], 0x41, 200);
    }
    for (int i = 0; i < 2000; ++i) {
        free(objects[i]);
    }
    int old = 0;
    for (int i = 0; i < 2000; ++i) {
        unsigned char* object = malloc(200);
        for (int byte = 0; byte < 196; byte += 4) {
            old += memcmp(object + byte, "AAAA", 4) == 0;
        }
    }
    fprintf(stderr, old != 0 ? "reads old contents\n" : "reads nothing old\n");
}

// As above, in objects with pages of their own.
MISTAKE(read_of_recycled_pages) {
    unsigned char* object = malloc(100000);
    memset(object, 0x41, 100000);
    free(object);
    for (int i = 0; i < 1000; ++i) {
        volatile unsigned char* other = malloc(100000);
        if (other[50000] != 0) {
            fprintf(stderr, "reads %02x\n", other[50000]);
            return;
        }
        free((void*)other);
    }
    fprintf(stderr, "reads 00\n");
}

// An object is freed with a size that is not its own.
MISTAKE(free_with_another_size) {
    free_sized(malloc(100), 60);
}

// An object is freed with an alignment that is not its own.
MISTAKE(free_with_another_alignment) {
    free_aligned_sized(aligned_alloc(256, 100), 64, 100);
}

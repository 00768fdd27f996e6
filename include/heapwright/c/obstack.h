/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Obstacks for C: stacks of objects, of which the newest can be made piece by piece. The interface
 * is the one that the GNU C library documents, so a program changes one line:
 *
 *     #include <heapwright/c/obstack.h>      instead of      #include <obstack.h>
 *
 * and is linked with libheapwright-c. As there, the program says where chunks come from before it
 * begins an obstack:
 *
 *     #define obstack_chunk_alloc malloc
 *     #define obstack_chunk_free free
 *
 * or has the chunks of an obstack in a reap, which it goes with:
 *
 *     struct heapwright_reap* reap = heapwright_reap_create(NULL);
 *     obstack_begin_in(&names, reap);
 *
 * obstack_free(h, x) frees x and all that came after it; obstack_free(h, NULL) frees everything and
 * leaves the obstack to be begun anew. An object that outgrows its chunk moves, so what
 * obstack_base gives is good until the object grows. Where there is no memory,
 * obstack_alloc_failed_handler is called; it must not return.
 *
 * What differs: sizes are size_t everywhere; every macro evaluates its arguments once; functions of
 * this interface have other names for the linker, so a program may hold libraries that use the
 * C library's obstacks. The two headers cannot both be included in one file.
 *
 * Invariants of a struct obstack: object_ <= next_ <= end_, all in the newest chunk; object_ is
 * aligned; the way through an inline function calls only where the chunk is used up.
 * Threads: an obstack has no lock; one thread at a time.
 */
#ifndef HEAPWRIGHT_C_OBSTACK_H
#define HEAPWRIGHT_C_OBSTACK_H

#ifdef _OBSTACK_H
#error "<obstack.h> and <heapwright/c/obstack.h> give the same names: include one of them"
#endif
#define _OBSTACK_H 1 /* and so <obstack.h> after this one gives nothing */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> /* before the names below: it may declare obstack_printf */
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heapwright_reap;          /* heapwright/c/reap.h */
struct heapwright_obstack_chunk; /* end, the one below, then objects */

struct obstack {
    char* object_; /* the object under construction */
    char* next_;   /* where it ends */
    char* end_;    /* where its chunk ends */
    struct heapwright_obstack_chunk* chunk_;
    size_t mask_;      /* objects stand on multiples of this and one */
    size_t chunkSize_; /* the usual size of a chunk */
    union {
        void* (*plain)(size_t);
        void* (*withArgument)(void*, size_t);
    } allocate_;
    union {
        void (*plain)(void*);
        void (*withArgument)(void*, void*);
    } release_;
    void* argument_;
    unsigned char hasArgument_;
    unsigned char holdsEmpty_; /* an object without bytes may stand where the chunk starts */
};

/* What is called where there is no memory: at first it prints a line and exits with
 * obstack_exit_failure. */
extern void (*heapwright_obstack_alloc_failed_handler)(void);
extern int heapwright_obstack_exit_failure;

/* The ways that are not worth inlining. */
int heapwright_obstack_begin(struct obstack* h, size_t size, size_t alignment,
                             void* (*allocate)(size_t), void (*release)(void*));
int heapwright_obstack_begin_with_argument(struct obstack* h, size_t size, size_t alignment,
                                           void* (*allocate)(void*, size_t),
                                           void (*release)(void*, void*), void* argument);
int heapwright_obstack_begin_in(struct obstack* h, size_t size, size_t alignment,
                                struct heapwright_reap* reap);
void heapwright_obstack_new_chunk(struct obstack* h, size_t size);
void heapwright_obstack_free_chunks(struct obstack* h, void* object);
int heapwright_obstack_empty_p(const struct obstack* h);
size_t heapwright_obstack_memory_used(const struct obstack* h);
int heapwright_obstack_printf(struct obstack* h, const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;
int heapwright_obstack_vprintf(struct obstack* h, const char* format, va_list arguments)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 0)))
#endif
    ;

#ifdef __GNUC__
#define HEAPWRIGHT_OBSTACK_RARELY(condition) __builtin_expect(!!(condition), 0)
#else
#define HEAPWRIGHT_OBSTACK_RARELY(condition) (condition)
#endif

static inline size_t heapwright_obstack_room(const struct obstack* h) {
    return (size_t)(h->end_ - h->next_);
}

static inline size_t heapwright_obstack_object_size(const struct obstack* h) {
    return (size_t)(h->next_ - h->object_);
}

/* Room for size bytes more behind the object under construction. */
static inline void heapwright_obstack_make_room(struct obstack* h, size_t size) {
    if (HEAPWRIGHT_OBSTACK_RARELY(heapwright_obstack_room(h) < size))
        heapwright_obstack_new_chunk(h, size);
}

static inline void heapwright_obstack_grow(struct obstack* h, const void* bytes, size_t size) {
    heapwright_obstack_make_room(h, size);
    memcpy(h->next_, bytes, size);
    h->next_ += size;
}

static inline void heapwright_obstack_grow0(struct obstack* h, const void* bytes, size_t size) {
    heapwright_obstack_make_room(h, size + 1);
    memcpy(h->next_, bytes, size);
    h->next_ += size;
    *h->next_++ = 0;
}

static inline void heapwright_obstack_1grow(struct obstack* h, int byte) {
    if (HEAPWRIGHT_OBSTACK_RARELY(h->next_ == h->end_))
        heapwright_obstack_new_chunk(h, 1);
    *h->next_++ = (char)byte;
}

/* Pre: the object under construction is aligned for what is added to it. */
static inline void heapwright_obstack_ptr_grow_fast(struct obstack* h, const void* pointer) {
    memcpy(h->next_, &pointer, sizeof pointer);
    h->next_ += sizeof pointer;
}

static inline void heapwright_obstack_int_grow_fast(struct obstack* h, int number) {
    memcpy(h->next_, &number, sizeof number);
    h->next_ += sizeof number;
}

static inline void heapwright_obstack_ptr_grow(struct obstack* h, const void* pointer) {
    heapwright_obstack_make_room(h, sizeof pointer);
    heapwright_obstack_ptr_grow_fast(h, pointer);
}

static inline void heapwright_obstack_int_grow(struct obstack* h, int number) {
    heapwright_obstack_make_room(h, sizeof number);
    heapwright_obstack_int_grow_fast(h, number);
}

/* A negative size takes bytes off: a size_t of it is more than any chunk has room for. */
static inline void heapwright_obstack_blank(struct obstack* h, size_t size) {
    if (HEAPWRIGHT_OBSTACK_RARELY(heapwright_obstack_room(h) < size) && (ptrdiff_t)size >= 0)
        heapwright_obstack_new_chunk(h, size);
    h->next_ += (ptrdiff_t)size;
}

static inline void* heapwright_obstack_finish(struct obstack* h) {
    char* const object = h->object_;
    char* next = h->next_;
    if (HEAPWRIGHT_OBSTACK_RARELY(next == object))
        h->holdsEmpty_ = 1;
    next += (0 - (uintptr_t)next) & h->mask_;
    if (HEAPWRIGHT_OBSTACK_RARELY(next > h->end_))
        next = h->end_;
    h->object_ = h->next_ = next;
    return object;
}

static inline void* heapwright_obstack_alloc(struct obstack* h, size_t size) {
    heapwright_obstack_make_room(h, size);
    h->next_ += size;
    return heapwright_obstack_finish(h);
}

static inline void* heapwright_obstack_copy(struct obstack* h, const void* bytes, size_t size) {
    heapwright_obstack_grow(h, bytes, size);
    return heapwright_obstack_finish(h);
}

static inline void* heapwright_obstack_copy0(struct obstack* h, const void* bytes, size_t size) {
    heapwright_obstack_grow0(h, bytes, size);
    return heapwright_obstack_finish(h);
}

static inline void heapwright_obstack_free(struct obstack* h, void* object) {
    /* Inside the newest chunk, where most are; what stands at its very end is left to the call. */
    if ((uintptr_t)object > (uintptr_t)h->chunk_ && (uintptr_t)object < (uintptr_t)h->end_)
        h->object_ = h->next_ = (char*)object;
    else
        heapwright_obstack_free_chunks(h, object);
}

#define obstack_alloc_failed_handler heapwright_obstack_alloc_failed_handler
#define obstack_exit_failure heapwright_obstack_exit_failure

#define obstack_init(h) obstack_begin((h), 0)
#define obstack_begin(h, size)                                                                     \
    obstack_specify_allocation((h), (size), 0, obstack_chunk_alloc, obstack_chunk_free)
#define obstack_specify_allocation(h, size, alignment, allocate, release)                          \
    heapwright_obstack_begin((h), (size), (alignment), (void* (*)(size_t))(allocate),              \
                             (void (*)(void*))(release))
#define obstack_specify_allocation_with_arg(h, size, alignment, allocate, release, argument)       \
    heapwright_obstack_begin_with_argument((h), (size), (alignment),                               \
                                           (void* (*)(void*, size_t))(allocate),                   \
                                           (void (*)(void*, void*))(release), (argument))
#define obstack_begin_in(h, reap) heapwright_obstack_begin_in((h), 0, 0, (reap))
#define obstack_chunkfun(h, allocate)                                                              \
    ((void)((h)->allocate_.withArgument = (void* (*)(void*, size_t))(allocate)))
#define obstack_freefun(h, release)                                                                \
    ((void)((h)->release_.withArgument = (void (*)(void*, void*))(release)))

#define obstack_alignment_mask(h) ((h)->mask_)
#define obstack_chunk_size(h) ((h)->chunkSize_)
#define obstack_base(h) ((void*)(h)->object_)
#define obstack_next_free(h) ((void*)(h)->next_)
#define obstack_object_size(h) heapwright_obstack_object_size((h))
#define obstack_room(h) heapwright_obstack_room((h))
#define obstack_empty_p(h) heapwright_obstack_empty_p((h))
#define obstack_memory_used(h) heapwright_obstack_memory_used((h))

#define obstack_make_room(h, size) heapwright_obstack_make_room((h), (size_t)(size))
#define obstack_grow(h, bytes, size) heapwright_obstack_grow((h), (bytes), (size_t)(size))
#define obstack_grow0(h, bytes, size) heapwright_obstack_grow0((h), (bytes), (size_t)(size))
#define obstack_1grow(h, byte) heapwright_obstack_1grow((h), (byte))
#define obstack_ptr_grow(h, pointer) heapwright_obstack_ptr_grow((h), (pointer))
#define obstack_int_grow(h, number) heapwright_obstack_int_grow((h), (number))
#define obstack_blank(h, size) heapwright_obstack_blank((h), (size_t)(size))
#define obstack_1grow_fast(h, byte) ((void)(*(h)->next_++ = (char)(byte)))
#define obstack_ptr_grow_fast(h, pointer) heapwright_obstack_ptr_grow_fast((h), (pointer))
#define obstack_int_grow_fast(h, number) heapwright_obstack_int_grow_fast((h), (number))
#define obstack_blank_fast(h, size) ((void)((h)->next_ += (size)))

#define obstack_finish(h) heapwright_obstack_finish((h))
#define obstack_alloc(h, size) heapwright_obstack_alloc((h), (size_t)(size))
#define obstack_copy(h, bytes, size) heapwright_obstack_copy((h), (bytes), (size_t)(size))
#define obstack_copy0(h, bytes, size) heapwright_obstack_copy0((h), (bytes), (size_t)(size))
#define obstack_free(h, object) heapwright_obstack_free((h), (object))

#define obstack_printf heapwright_obstack_printf
#define obstack_vprintf heapwright_obstack_vprintf

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Obstacks for C: stacks of objects, of which the newest can be built piece by piece. The interface
 * is that of the GNU C library, so a program changes one line:
 *
 *     #include <heapwright/c/obstack.h>      instead of      #include <obstack.h>
 *
 * and links with libheapwright-c. As there, the program defines the source of chunks before it
 * begins an obstack:
 *
 *     #define obstack_chunk_alloc malloc
 *     #define obstack_chunk_free free
 *
 * or puts the chunks of an obstack into a reap, with which it ends:
 *
 *     struct heapwright_reap* reap = heapwright_reap_create(NULL);
 *     obstack_begin_in(&names, reap);
 *
 * obstack_free(h, x) frees x and all later objects. obstack_free(h, NULL) frees everything; the
 * obstack must then be begun again. An object that outgrows its chunk moves, so the result of
 * obstack_base is valid until the object grows. Without memory, obstack_alloc_failed_handler is
 * called, which must not return.
 *
 * Differences from the C library: sizes are size_t everywhere. Every macro evaluates its arguments
 * once. The functions have other linker names, so a program may use libraries with the C library's
 * obstacks. One file cannot include both headers.
 *
 * Invariant: object_ <= next_ <= end_, all in the newest chunk. object_ is aligned. An inline
 * function makes a call only when the chunk is used up.
 * Threads: an obstack has no lock. One thread at a time may use it.
 */
#ifndef HEAPWRIGHT_C_OBSTACK_H
#define HEAPWRIGHT_C_OBSTACK_H

#ifdef _OBSTACK_H
#error "<obstack.h> and <heapwright/c/obstack.h> give the same names: include one of them"
#endif
#define _OBSTACK_H 1 /* makes a later <obstack.h> empty */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h> /* before the names below, because it may declare obstack_printf */
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

struct heapwright_reap;          /* heapwright/c/reap.h */
struct heapwright_obstack_chunk; /* its end, the chunk below, then objects */

struct obstack {
    char* object_; /* the object under construction */
    char* next_;   /* its end */
    char* end_;    /* the end of its chunk */
    struct heapwright_obstack_chunk* chunk_;
    size_t mask_;      /* objects are aligned to this plus one */
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
    unsigned char holdsEmpty_; /* an object without bytes may be at the start of the chunk */
};

/* Called without memory. The default prints a line and exits with obstack_exit_failure. */
extern void (*heapwright_obstack_alloc_failed_handler)(void);
extern int heapwright_obstack_exit_failure;

/* The functions that are not inline. */
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

/* Makes room for `size` more bytes of the object under construction. */
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

/* Pre: the object under construction is aligned for the added value. */
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

/* A negative size removes bytes. As a size_t it is larger than the room of any chunk. */
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
    /* Most objects are inside the newest chunk. One at its very end is left to the call. */
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

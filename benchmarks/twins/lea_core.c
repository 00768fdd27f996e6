// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Lea's allocator written by hand, without a lock, as a subject to count. It has the layers
// `Objects` to `Checked` of include/heapwright/allocators/lea.hpp in one piece of plain C. Freed
// objects of up to 72 bytes wait on four exact lists. A request of 512 bytes or more, or one that
// no free block can serve, merges them first. Other objects are split and merged at once, and bins
// serve about the best fit. Memory is one span that grows with the program break. Requests of at
// least a rising limit have mappings of their own. A free checks the address and the state.
//
// Tags, bins and limits are those of the composition, so that neither side has shorter constants.
// The twin keeps no list of its spans and no statistics.
#include "subject.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define INLINED __attribute__((always_inline)) static inline
#define OUT_OF_LINE __attribute__((noinline)) static
#define RARE __attribute__((cold, noinline)) static

enum {
    kAlignment = 16,
    kTagBytes = 8,
    kPage = 4096,
    kLeastBlock = 32,
    kQuick = 4,       // lists of blocks of 32, 48, 64 and 80 bytes
    kMergeFrom = 512, // a request of this size merges what waits on them
    kLive = 0xB7E5,
    kFree = 0x93C5,
    kFence = 0x8E97,
    kPrevFree = 1 << 16,
    kBinned = 1 << 17,
    kDirect = 1 << 18,
    kSizeShift = 16,
    kSmallBins = 64, // one for each multiple of 16 below 1 KiB
    kSmallLog = 10,
    kBins = kSmallBins + (47 - kSmallLog + 1) * 8,
    kWords = (kBins + 63) / 64,
    kSearched = 32, // blocks of a large bin that a search visits
};

static const size_t kGrowth = (size_t)128 << 10;
static const size_t kMostKept = (size_t)64 << 20;
static const size_t kLargest = (size_t)1 << 47;
static const size_t kHighestLimit = (size_t)32 << 20;
static const size_t kLeastMapping = (size_t)1 << 20;

struct Links {
    struct Links* next;
    struct Links* previous;
};

struct Block {
    uint64_t tag;
    struct Links links; ///< only while the block is free
};

static struct Links* quick[kQuick];
static struct Links bins[kBins];
static uint64_t occupied[kWords]; ///< a set bit: the bin's ring is initialised, and may be empty
static struct Block* top;         ///< the free block at the end of memory
static uintptr_t end;             ///< of the newest span
static size_t worthKeeping = (size_t)256 << 10;
static size_t limit = (size_t)128 << 10; ///< larger requests are mapped

INLINED struct Block* blockOf(void* object) {
    return (struct Block*)((char*)object - kTagBytes);
}
INLINED void* objectOf(struct Block* block) {
    return (char*)block + kTagBytes;
}
INLINED size_t sizeOf(const struct Block* block) {
    return (block->tag >> kSizeShift) & ~(uint64_t)(kAlignment - 1);
}
INLINED struct Block* after(struct Block* block, size_t bytes) {
    return (struct Block*)((char*)block + bytes);
}
INLINED uint64_t tagFor(size_t size, uint64_t rest) {
    return (uint64_t)size << kSizeShift | rest;
}
INLINED bool isFence(const struct Block* block) {
    return (uint16_t)block->tag == kFence;
}
INLINED size_t pagesFor(size_t bytes) {
    return (bytes + kPage - 1) & ~(size_t)(kPage - 1);
}

/// The size of the block for a request; 0 if no block is that large.
INLINED size_t blockFor(size_t request) {
    size_t size = (request + kTagBytes + kAlignment - 1) & ~(size_t)(kAlignment - 1);
    return request > kLargest ? 0 : size < kLeastBlock ? kLeastBlock : size;
}

__attribute__((cold, noinline, noreturn)) static void refuseFree(void* object) {
    bool freed = (uintptr_t)object % kAlignment == 0 && (uint16_t)blockOf(object)->tag == kFree;
    const char* line = freed ? "twin: free(): double free\n" : "twin: free(): invalid pointer\n";
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
    abort();
}

// Bins.

INLINED size_t binOf(size_t size) {
    if (size < kSmallBins * kAlignment)
        return size / kAlignment;
    size_t log = 63U ^ (unsigned)__builtin_clzll(size);
    size_t bin = kSmallBins + (log - kSmallLog) * 8 + ((size >> (log - 3)) & 7);
    return bin < kBins ? bin : kBins - 1;
}

INLINED void addToBin(struct Block* block, size_t size) {
    *(size_t*)((char*)block + size - sizeof(size_t)) = size; // the next block finds this one by it
    size_t bin = binOf(size);
    uint64_t bit = (uint64_t)1 << (bin % 64);
    struct Links* ring = &bins[bin];
    struct Links* node = &block->links;
    if ((occupied[bin / 64] & bit) == 0) {
        occupied[bin / 64] |= bit;
        ring->next = ring->previous = ring;
    }
    node->next = ring;
    node->previous = ring->previous;
    ring->previous->next = node;
    ring->previous = node;
}

INLINED void removeFromBin(struct Links* node) {
    node->previous->next = node->next;
    node->next->previous = node->previous;
}

/// The best of the first blocks of a bin; null if none is large enough.
INLINED struct Block* bestOf(size_t bin, size_t size) {
    struct Links* node = bins[bin].next;
    if (bin < kSmallBins)
        return blockOf(node);
    struct Block* best = NULL;
    size_t least = SIZE_MAX;
    for (int seen = 0; node != &bins[bin] && seen < kSearched; node = node->next, ++seen) {
        size_t have = sizeOf(blockOf(node));
        if (have >= size && have < least) {
            best = blockOf(node);
            least = have;
            if (have == size)
                break;
        }
    }
    return best;
}

/// Removes the block for a request from the bins; null if they have none.
INLINED struct Block* takeFit(size_t size) {
    size_t from = binOf(size);
    size_t index = from / 64;
    uint64_t word = occupied[index] & (~(uint64_t)0 << (from % 64));
    for (;;) {
        while (word != 0) {
            size_t bin = index * 64 + (unsigned)__builtin_ctzll(word);
            if (unlikely(bins[bin].next == &bins[bin])) {
                occupied[index] &= ~((uint64_t)1 << (bin % 64));
            } else {
                struct Block* found = bestOf(bin, size);
                if (likely(found != NULL)) {
                    removeFromBin(&found->links);
                    return found;
                }
            }
            word &= word - 1;
        }
        if (++index == kWords)
            return NULL;
        word = occupied[index];
    }
}

// Spans. One word before the first tag holds the length of a mapped span, and 0 of another.

INLINED void placeFence(uintptr_t spanEnd, size_t distance, uint64_t flags) {
    ((struct Block*)(spanEnd - kTagBytes))->tag = tagFor(distance, kFence | flags);
}

/// Moves the program break from `from` by `bytes`; false if other code has moved it.
static bool moveBreak(uintptr_t from, size_t bytes) {
    int kept = errno;
    bool moved = (uintptr_t)sbrk(0) == from && (uintptr_t)sbrk((intptr_t)bytes) == from;
    errno = kept;
    return moved;
}

/// A block with all of a new span of at least `size` bytes.
RARE struct Block* newSpan(size_t size) {
    int kept = errno;
    uintptr_t before = (uintptr_t)sbrk(0);
    uintptr_t start = (before + kAlignment - 1) & ~(uintptr_t)(kAlignment - 1);
    size_t length = pagesFor(start + 2 * kTagBytes + size) - start;
    size_t mapped = 0;
    if (!moveBreak(before, start + length - before)) {
        length = mapped = pagesFor(size < kLeastMapping ? kLeastMapping : size + 2 * kTagBytes);
        void* pages =
            mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        errno = kept;
        if (pages == MAP_FAILED)
            return NULL;
        start = (uintptr_t)pages;
    }
    *(size_t*)start = mapped;
    end = start + length;
    struct Block* block = (struct Block*)(start + kTagBytes);
    size_t room = length - 2 * kTagBytes;
    block->tag = tagFor(room, kLive);
    placeFence(end, room, 0);
    return block;
}

/// A block that extends the newest span by at least `size` bytes; null if the break is elsewhere.
RARE struct Block* extend(size_t size) {
    size_t added = pagesFor(size);
    if (end == 0 || !moveBreak(end, added))
        return NULL;
    struct Block* block = (struct Block*)(end - kTagBytes);
    size_t distance = sizeOf(block) + added;
    block->tag = tagFor(added, kLive | (block->tag & kPrevFree));
    end += added;
    placeFence(end, distance, 0);
    return block;
}

/// Returns a span without objects to the system.
RARE void releaseSpan(struct Block* block) {
    char* start = (char*)block - kTagBytes;
    size_t length = sizeOf(block) + 2 * kTagBytes;
    int kept = errno;
    if (*(size_t*)start != 0) {
        munmap(start, length);
    } else if (!moveBreak((uintptr_t)start + length, 0 - length)) {
        char* first = (char*)pagesFor((size_t)start);
        madvise(first, (size_t)(start + length - first), MADV_DONTNEED);
    }
    errno = kept;
}

/// Returns what the top has beyond `kGrowth` bytes, if it ends at the break.
RARE void shortenTop(void) {
    uintptr_t newEnd = pagesFor((uintptr_t)top + kGrowth + kTagBytes);
    if (newEnd >= end || after(top, sizeOf(top)) != (struct Block*)(end - kTagBytes))
        return;
    size_t distance = sizeOf(after(top, sizeOf(top)));
    size_t less = end - newEnd;
    if (!moveBreak(end, 0 - less))
        return;
    end = newEnd;
    top->tag = tagFor(sizeOf(top) - less, top->tag & 0xFFFFF);
    placeFence(end, distance - less, kPrevFree);
}

// Blocks.

INLINED void detach(struct Block* block) {
    if (unlikely(block == top))
        top = NULL;
    else
        removeFromBin(&block->links);
}

/// Merges a block with its free neighbours. The result is in no bin.
INLINED struct Block* merge(struct Block* block, size_t* merged) {
    size_t size = sizeOf(block);
    if ((block->tag & kPrevFree) != 0) {
        size_t before = *((size_t*)block - 1);
        block = (struct Block*)((char*)block - before);
        detach(block);
        size += before;
    }
    struct Block* next = after(block, size);
    if ((next->tag & kBinned) != 0) {
        size += sizeOf(next);
        detach(next);
    }
    block->tag = tagFor(size, kFree | kBinned);
    *merged = size;
    return block;
}

/// A free block at the end of its span: the new top, an empty span, or one for the bins.
RARE void releaseLast(struct Block* block, size_t size) {
    if (top == NULL) {
        top = block;
        if (size > worthKeeping)
            shortenTop();
    } else if (sizeOf(after(block, size)) == size) {
        releaseSpan(block);
    } else {
        addToBin(block, size);
    }
}

OUT_OF_LINE void release(struct Block* block) {
    size_t size = sizeOf(block);
    if (unlikely(size > worthKeeping / 2 && size <= kMostKept / 2))
        worthKeeping = 2 * size;
    block = merge(block, &size);
    struct Block* next = after(block, size);
    next->tag |= kPrevFree;
    if (unlikely(isFence(next)))
        releaseLast(block, size);
    else
        addToBin(block, size);
}

/// Makes an added block the top. An older top goes into the bins.
RARE struct Block* freshTop(struct Block* added) {
    size_t size = 0;
    struct Block* block = merge(added, &size);
    after(block, size)->tag |= kPrevFree;
    if (top != NULL)
        addToBin(top, sizeOf(top));
    top = block;
    return block;
}

/// A top of at least `size` bytes.
OUT_OF_LINE struct Block* grow(size_t size) {
    size_t have = 0;
    if (top != NULL) {
        have = sizeOf(top);
        *(size_t*)((char*)top + have - sizeof(size_t)) = have; // the added block finds it
    }
    struct Block* added = extend(size - (have < size ? have : size) + kGrowth);
    if (added == NULL || sizeOf(freshTop(added)) < size) {
        added = newSpan(size + kGrowth);
        if (added == NULL)
            return NULL;
        freshTop(added);
    }
    return top;
}

/// Turns a block that is in no bin into an object of `size` bytes. The rest stays free.
INLINED void* carve(struct Block* block, size_t size) {
    size_t have = sizeOf(block);
    size_t rest = have - size;
    if (rest < kLeastBlock) {
        if (unlikely(block == top))
            top = NULL;
        block->tag = tagFor(have, kLive);
        after(block, have)->tag &= ~(uint64_t)kPrevFree;
        return objectOf(block);
    }
    block->tag = tagFor(size, kLive);
    struct Block* remainder = after(block, size);
    remainder->tag = tagFor(rest, kFree | kBinned);
    if (block == top)
        top = remainder;
    else
        addToBin(remainder, rest);
    return objectOf(block);
}

INLINED struct Block* take(size_t size) {
    struct Block* found = takeFit(size);
    return found != NULL ? found : top != NULL && sizeOf(top) >= size ? top : NULL;
}

/// Merges all objects that wait on the lists; true if there were any.
OUT_OF_LINE bool flush(void) {
    bool any = false;
    for (int i = 0; i < kQuick; ++i) {
        while (quick[i] != NULL) {
            struct Links* object = quick[i];
            quick[i] = object->next;
            release(blockOf(object));
            any = true;
        }
    }
    return any;
}

OUT_OF_LINE void* fetch(size_t size) {
    if (unlikely(size == 0))
        return NULL;
    struct Block* block = take(size);
    if (unlikely(block == NULL) && flush())
        block = take(size);
    if (unlikely(block == NULL))
        block = grow(size);
    return likely(block != NULL) ? carve(block, size) : NULL;
}

// Objects with a mapping of their own.

RARE void* mapObject(size_t size) {
    size_t length = pagesFor(size + kAlignment + kTagBytes);
    if (length < size)
        return NULL;
    int kept = errno;
    char* start = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = kept;
    if (start == MAP_FAILED)
        return NULL;
    blockOf(start + kAlignment)->tag = tagFor(length - kAlignment, kLive | kDirect);
    return start + kAlignment;
}

RARE void unmapObject(void* object) {
    size_t block = sizeOf(blockOf(object));
    size_t usable = block - kTagBytes;
    if (usable <= kHighestLimit && usable >= limit)
        limit = usable;
    int kept = errno;
    munmap((char*)object - kAlignment, block + kAlignment);
    errno = kept;
}

RARE void* mallocMapped(size_t size) {
    void* object = mapObject(size);
    if (object != NULL)
        return object;
    flush();
    return fetch(blockFor(size));
}

OUT_OF_LINE void* mallocMerging(size_t size) {
    flush();
    return fetch(blockFor(size));
}

void* subjectMalloc(size_t size) {
    if (unlikely(size >= kMergeFrom))
        return unlikely(size >= limit) ? mallocMapped(size) : mallocMerging(size);
    size_t block = blockFor(size);
    size_t index = block / kAlignment - 2;
    if (unlikely(index >= kQuick))
        return fetch(block);
    struct Links* object = quick[index];
    if (unlikely(object == NULL))
        return fetch(block);
    quick[index] = object->next;
    blockOf(object)->tag |= kLive; // all the bits of kFree and some more
    return object;
}

void subjectFree(void* object) {
    if (unlikely((uintptr_t)object % kAlignment != 0))
        refuseFree(object);
    struct Block* block = blockOf(object);
    uint64_t tag = block->tag;
    if (unlikely((uint16_t)tag != kLive))
        refuseFree(object);
    if (unlikely((tag & kDirect) != 0)) {
        unmapObject(object);
        return;
    }
    block->tag = tag ^ (kLive ^ kFree);
    size_t index = sizeOf(block) / kAlignment - 2;
    if (unlikely(index >= kQuick)) {
        release(block);
        return;
    }
    struct Links* node = object;
    node->next = quick[index];
    quick[index] = node;
}

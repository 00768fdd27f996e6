/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The churn: kernel objects are created and removed at random in a small memory. First the memory
 * is filled with anonymous pages, in which holes are then made page by page. Free pages are thus
 * scattered among movable pages. The object allocators' pages cannot move, so their requests make
 * the page allocator use blocks of the other mobility: its fragmentation events. Then waves follow.
 * In each, the number of live objects rises to a height and falls again, and a part of them
 * survives the wave.
 *
 * If the kernel refuses an object (no descriptor, no memory), it is counted and the wave continues.
 */
#include "guest.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { PAGE = 4096, SAMPLES = 4 };

static struct object* slots;
static uint64_t slotCount;
static uint64_t made;
static uint64_t removed;
static uint64_t refused;

/* Fills memory with anonymous pages and makes holes: `left` of every hundred pages stay. */
static void fillMemory(uint64_t mebibytes, uint64_t left) {
    size_t size = mebibytes << 20;
    if (size == 0) {
        return;
    }
    char* area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) {
        fail("anonymous pages");
    }
    for (size_t at = 0; at < size; at += PAGE) {
        area[at] = 1;
    }
    sample("filled");
    for (size_t at = 0; at < size; at += PAGE) {
        if (draw(100) >= left && madvise(area + at, PAGE, MADV_DONTNEED) != 0) {
            fail("holes in anonymous pages");
        }
    }
    madvise(area, size, MADV_DONTFORK); /* otherwise each process would copy its page tables */
    sample("holed");
}

static enum kind drawKind(void) {
    static const uint8_t shares[KINDS] = {
        [FILE_OBJECT] = 34, [PIPE] = 18, [SOCKETS] = 18, [EVENT] = 12,
        [TIMER] = 7,        [POLL] = 7,  [PROCESS] = 4};
    uint64_t drawn = draw(100);
    enum kind kind = 0;
    while (kind < KINDS - 1 && drawn >= shares[kind]) {
        drawn -= shares[kind];
        ++kind;
    }
    return kind;
}

/* One step: empties a slot, or fills it with a chance of `chance` percent. */
static void step(uint64_t chance) {
    struct object* object = &slots[draw(slotCount)];
    int fill = draw(100) < chance;
    if (object->live && !fill) {
        removeObject(object);
        ++removed;
    } else if (!object->live && fill) {
        if (makeObject(object, drawKind()) == 0) {
            ++made;
        } else {
            ++refused;
        }
    }
}

static void wave(uint64_t steps) {
    static const uint8_t chances[SAMPLES] = {90, 60, 40, 15};
    for (size_t part = 0; part < SAMPLES; ++part) {
        for (uint64_t at = 0; at < steps / SAMPLES; ++at) {
            step(chances[part]);
        }
        sample("churn");
    }
}

void churn(void) {
    struct rlimit most = {1 << 16, 1 << 16};
    setrlimit(RLIMIT_NOFILE, &most);
    makeFolders();
    slotCount = number("slots", 2000);
    slots = calloc(slotCount, sizeof *slots);
    if (slots == NULL) {
        fail("the table of objects");
    }
    fillMemory(number("fill_mib", 0), number("fill_left", 50));
    uint64_t begin = now();
    uint64_t waves = number("waves", 4);
    uint64_t steps = number("steps", 8000);
    for (uint64_t at = 0; at < waves; ++at) {
        wave(steps);
    }
    uint64_t end = now();
    for (uint64_t at = 0; at < slotCount; ++at) {
        removeObject(&slots[at]);
    }
    sample("removed");
    beginRecord("churn");
    addNumber("ns", end - begin);
    addNumber("made", made);
    addNumber("removed", removed);
    addNumber("refused", refused);
    endRecord();
}

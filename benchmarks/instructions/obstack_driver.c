// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts for a subject that parses on an obstack (obstacks/parse.h): nested scopes, symbols,
// strings. The whole parse is counted, for each character of the text.
#include "counting.h"
#include "subject.h"

#include <string.h>

enum { kText = 100000, kMostDeep = 12 };

const size_t subjectPiece = 16;

static char text[kText + 1];
static size_t length;
static size_t expected;

static void put(char c) {
    if (length < kText)
        text[length++] = c;
}

static void putWord(uint32_t* state, unsigned most) {
    unsigned letters = 1 + nextRandom(state) % most;
    for (unsigned i = 0; i < letters; ++i)
        put((char)('a' + nextRandom(state) % 26));
    put(' ');
}

/// About `words` symbols of up to `most` letters in a scope; every eighth is a string.
static void write(unsigned words, unsigned most) {
    uint32_t state = 2002;
    unsigned deep = 0;
    length = 0;
    while (length < kText - kMostDeep - 1) {
        unsigned choice = nextRandom(&state) % (2 * words);
        if (choice == 0 && deep < kMostDeep) {
            put('{');
            ++deep;
        } else if (choice == 1 && deep > 0) {
            put('}');
            --deep;
        } else if (choice % 8 == 2) {
            put('"');
            putWord(&state, 8 * most);
        } else {
            putWord(&state, most);
        }
    }
    while (deep-- > 0)
        put('}');
    text[length] = 0;
    expected = subjectParse(text, length);
}

static void parse(void) {
    if (subjectParse(text, length) != expected)
        fail("the subject parses the same text in two ways");
}

static void run(const char* name, unsigned words, unsigned most) {
    write(words, most);
    count(name, parse, kWarmUps, (unsigned)length);
}

int main(void) {
    run("symbols in short scopes", 6, 8);
    run("symbols in long scopes", 200, 8);
    run("long strings", 20, 120);
    run("strings larger than a chunk", 20, 1500);
    return 0;
}

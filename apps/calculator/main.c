// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-calculator: the calculator as a command. It carries out the texts of the files, or
// standard input, one after another in one pool, and can say what the pool came to.
#include "calculator.h"
#include "growth.h"
#include "memory_kinds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char kUsage[] =
    "usage: %s [--memory KIND] [--keep] [--account] [--steps N] [--line N] [FILE...]\n"
    "  --memory KIND  where all memory comes from:";
static const char kUsageEnd[] =
    "\n  --keep         free nothing before the end\n"
    "  --account      tell in a last line, as JSON, what memory was used\n"
    "  --steps N      carry out no more than N operations\n"
    "  --line N       break digits before column N (70; 0: never)\n"
    "Without a file, or for -, the text is standard input.\n";

struct Settings {
    const struct MemoryKind* kind;
    int keep, account;
    struct CalculatorLimits limits;
};

/// The pool in use, and what went through it.
struct Counted {
    struct CalculatorPool pool;
    unsigned long long allocations, releases, bytes;
};

static void* countedAllocate(void* context, size_t size) {
    struct Counted* counted = context;
    ++counted->allocations;
    counted->bytes += size;
    return poolAllocate(&counted->pool, size);
}

static void countedRelease(void* context, void* object) {
    struct Counted* counted = context;
    ++counted->releases;
    poolRelease(&counted->pool, object);
}

static void writeOut(void* context, const char* bytes, size_t length) {
    fwrite(bytes, 1, length, context);
}

static void complain(void* context, const char* message) {
    fflush(context); // what was written before comes before
    fprintf(stderr, "heapwright-calculator: %s\n", message);
}

static int usage(const char* program) {
    fprintf(stderr, kUsage, program);
    for (const struct MemoryKind* kind = kMemoryKinds; kind->name != NULL; ++kind)
        fprintf(stderr, " %s%s", kind->name, kind == kMemoryKinds ? " (usual)" : "");
    fputs(kUsageEnd, stderr);
    return 2;
}

/// All of a file; the text is the pool's, and null if it cannot be read.
static char* readAll(const struct CalculatorPool* pool, FILE* file, size_t* length) {
    char* text = NULL;
    size_t room = 0;
    *length = 0;
    do {
        if (!poolGrow(pool, &text, *length, 4096, 1, &room))
            return NULL;
        *length += fread(text + *length, 1, room - *length, file);
    } while (!feof(file) && !ferror(file));
    return ferror(file) ? NULL : text;
}

static int runFile(struct Calculator* calculator, const struct CalculatorPool* pool,
                   const char* name) {
    FILE* file = strcmp(name, "-") == 0 ? stdin : fopen(name, "re");
    size_t length = 0;
    char* text = file == NULL ? NULL : readAll(pool, file, &length);
    if (file != NULL && file != stdin)
        fclose(file);
    if (text == NULL) {
        fprintf(stderr, "heapwright-calculator: cannot read %s\n", name);
        return 1;
    }
    const int wrong = calculatorRun(calculator, text, length) > 0;
    poolRelease(pool, text);
    return wrong;
}

static int runFiles(const struct Settings* settings, const struct CalculatorPool* pool,
                    char** files, int count) {
    static char standardInput[] = "-";
    char* only[] = {standardInput};
    const struct CalculatorOutput output = {writeOut, complain, stdout};
    struct Calculator* calculator = calculatorCreate(pool, &output, &settings->limits);
    if (calculator == NULL) {
        complain(stdout, "out of memory");
        return 1;
    }
    int status = 0;
    if (count == 0) {
        files = only;
        count = 1;
    }
    for (int i = 0; i < count && !calculatorEnded(calculator); ++i)
        status |= runFile(calculator, pool, files[i]);
    calculatorDestroy(calculator);
    return status;
}

static void tell(const struct Settings* settings, const struct Counted* counted, size_t memory) {
    printf("{\"program\": \"calculator\", \"memory\": \"%s\", \"single_frees\": %s, "
           "\"allocations\": %llu, \"releases\": %llu, \"requested_bytes\": %llu, "
           "\"memory_grown\": %zu}\n",
           settings->kind->name, counted->pool.release == NULL ? "false" : "true",
           counted->allocations, counted->releases, counted->bytes, memory);
}

static int run(const struct Settings* settings, char** files, int count) {
    struct Counted counted = {.allocations = 0};
    const size_t before = ownMemory();
    if (!settings->kind->open(&counted.pool)) {
        complain(stdout, "out of memory");
        return 1;
    }
    if (settings->keep)
        counted.pool.release = NULL;
    const struct CalculatorPool counting = {
        countedAllocate, counted.pool.release == NULL ? NULL : countedRelease, &counted};
    int status = runFiles(settings, settings->account ? &counting : &counted.pool, files, count);
    const size_t memory = grownSince(before);
    settings->kind->close(&counted.pool);
    if (settings->account)
        tell(settings, &counted, memory);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fputs("heapwright-calculator: cannot write\n", stderr);
        status = 1;
    }
    return status;
}

static int readNumber(const char* text, unsigned long long* number) {
    char* end = NULL;
    *number = strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

/// One option and its argument; answers how many words it took, 0 if it is none.
static int readOption(struct Settings* settings, char** words) {
    unsigned long long number = 0;
    if (strcmp(*words, "--keep") == 0)
        return settings->keep = 1;
    if (strcmp(*words, "--account") == 0)
        return settings->account = 1;
    if (words[1] == NULL)
        return 0;
    if (strcmp(*words, "--memory") == 0) {
        settings->kind = kMemoryKinds;
        while (settings->kind->name != NULL && strcmp(settings->kind->name, words[1]) != 0)
            ++settings->kind;
        return settings->kind->name == NULL ? 0 : 2;
    }
    if (strcmp(*words, "--steps") == 0 && readNumber(words[1], &number)) {
        settings->limits.steps = number;
        return 2;
    }
    if (strcmp(*words, "--line") == 0 && readNumber(words[1], &number)) {
        settings->limits.lineLength = (size_t)number;
        return 2;
    }
    return 0;
}

int main(int argc, char** argv) {
    struct Settings settings = {.kind = kMemoryKinds, .limits = {.lineLength = 70}};
    int at = 1;
    while (at < argc && strncmp(argv[at], "--", 2) == 0) {
        const int taken = readOption(&settings, argv + at);
        if (taken == 0)
            return usage(argv[0]);
        at += taken;
    }
    return run(&settings, argv + at, argc - at);
}

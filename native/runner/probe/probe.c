// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// heapwright-probe: run it with a library preloaded. It prints one JSON object. The object has the
// provider of each allocation routine in this process, whether a few allocations work, and what the
// allocator reports about itself. It depends only on the C library, so a C++ library is loaded only
// if the allocator needs it.
//
// A routine without a provider is null, and so is any unknown value. Paths are those of the loader.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void writeString(const char* text) {
    putchar('"');
    for (; *text != '\0'; ++text) {
        const unsigned char byte = (unsigned char)*text;
        if (byte == '"' || byte == '\\') {
            printf("\\%c", byte);
        } else if (byte < 0x20) {
            printf("\\u%04x", byte);
        } else {
            putchar(byte);
        }
    }
    putchar('"');
}

static void writeText(const char* key, const char* text) {
    printf("\"%s\":", key);
    if (text == NULL) {
        fputs("null", stdout);
    } else {
        writeString(text);
    }
}

static void writeTruth(const char* key, int truth) {
    printf("\"%s\":%s", key, truth < 0 ? "null" : truth ? "true" : "false");
}

static const char* providerOf(const char* routine) {
    void* const address = dlsym(RTLD_DEFAULT, routine);
    Dl_info where;
    return address != NULL && dladdr(address, &where) != 0 ? where.dli_fname : NULL;
}

// The compiler must assume that other code reads this pointer, so it removes no pair of calls.
static void* volatile seen;

static bool filled(const unsigned char* bytes, size_t count, unsigned char value) {
    for (size_t i = 0; i < count; ++i) {
        if (bytes[i] != value) {
            return false;
        }
    }
    return true;
}

static bool mallocWorks(size_t size) {
    unsigned char* object = malloc(size);
    seen = object;
    if (object == NULL || (uintptr_t)object % (size < 16 ? 8 : 16) != 0) {
        return false;
    }
    memset(object, 0xA5, size);
    object = realloc(object, 2 * size + 1);
    seen = object;
    const bool kept = object != NULL && filled(object, size, 0xA5);
    free(object);
    return kept;
}

static bool callocWorks(size_t size) {
    unsigned char* const object = calloc(3, size);
    seen = object;
    const bool zero = object != NULL && filled(object, 3 * size, 0);
    free(object);
    return zero;
}

static bool alignedWorks(size_t alignment) {
    void* object = NULL;
    const bool works =
        posix_memalign(&object, alignment, 100) == 0 && (uintptr_t)object % alignment == 0;
    seen = object;
    free(object);
    return works;
}

static bool allocationsWork(void) {
    for (size_t size = 1; size <= (size_t)1 << 22; size = 4 * size + 3) {
        if (!mallocWorks(size) || !callocWorks(size)) {
            return false;
        }
    }
    return alignedWorks(64) && alignedWorks(4096);
}

// For the C library, a small object in a thread cache still counts as in use, and one freed
// elsewhere does not. The result is -1 if malloc is not the C library's.
static int threadCacheIsOn(bool libcProvides) {
    if (!libcProvides) {
        return -1;
    }
    void* const object = malloc(24);
    seen = object;
    const size_t before = mallinfo2().uordblks;
    free(object);
    return mallinfo2().uordblks == before;
}

typedef int Mallctl(const char*, void*, size_t*, void*, size_t);
typedef const char* TcVersion(int*, int*, const char**);
typedef int MiVersion(void);
typedef const char* Describe(void);

// ISO C has no conversion from an object pointer to a function pointer. POSIX guarantees that their
// bytes are the same.
#define FUNCTION(type, name)                                                                       \
    type* name = NULL;                                                                             \
    {                                                                                              \
        void* const found = dlsym(RTLD_DEFAULT, #name);                                            \
        memcpy(&name, &found, sizeof found);                                                       \
    }

static const char* ownVersion(char* buffer, size_t size) {
    FUNCTION(Mallctl, mallctl)
    const char* text = NULL;
    size_t length = sizeof text;
    if (mallctl != NULL && mallctl("version", &text, &length, NULL, 0) == 0) {
        return text;
    }
    FUNCTION(TcVersion, tc_version)
    if (tc_version != NULL) {
        int major = 0;
        int minor = 0;
        const char* patch = "";
        tc_version(&major, &minor, &patch);
        snprintf(buffer, size, "%d.%d%s", major, minor, patch != NULL ? patch : "");
        return buffer;
    }
    FUNCTION(MiVersion, mi_version)
    if (mi_version != NULL) {
        const int version = mi_version();
        /* A part has one digit, and two in later releases. */
        const int digits = version < 10000 ? 10 : 100;
        snprintf(buffer, size, "%d.%d.%d", version / digits / digits, version / digits % digits,
                 version % digits);
        return buffer;
    }
    FUNCTION(Describe, TBB_runtime_version)
    return TBB_runtime_version != NULL ? TBB_runtime_version() : NULL;
}

static bool same(const char* a, const char* b) {
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

int main(void) {
    static const char* const routines[][2] = {
        {"malloc", "malloc"},
        {"free", "free"},
        {"calloc", "calloc"},
        {"realloc", "realloc"},
        {"posix_memalign", "posix_memalign"},
        {"malloc_usable_size", "malloc_usable_size"},
        {"operator_new", "_Znwm"},
        {"operator_delete", "_ZdlPv"},
    };
    const char* const libc = providerOf("gnu_get_libc_version");
    const char* const provider = providerOf("malloc");
    putchar('{');
    for (size_t i = 0; i < sizeof routines / sizeof routines[0]; ++i) {
        writeText(routines[i][0], providerOf(routines[i][1]));
        putchar(',');
    }
    writeText("libc", libc);
    putchar(',');
    writeTruth("provider_is_libc", same(provider, libc));
    putchar(',');
    writeTruth("consistent", same(provider, providerOf("free")) &&
                                 same(provider, providerOf("calloc")) &&
                                 same(provider, providerOf("realloc")));
    putchar(',');
    writeTruth("works", allocationsWork());
    putchar(',');
    writeText("glibc_version", gnu_get_libc_version());
    putchar(',');
    writeTruth("tcache", threadCacheIsOn(same(provider, libc)));
    putchar(',');
    FUNCTION(Describe, heapwright_describe)
    writeText("description", heapwright_describe != NULL ? heapwright_describe() : NULL);
    putchar(',');
    char buffer[80];
    writeText("allocator_version", ownVersion(buffer, sizeof buffer));
    puts("}");
    return fflush(stdout) == 0 ? 0 : 1;
}

/* SPDX-FileCopyrightText: The Heapwright authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a pool knows, and what objects are made in it. */
#include "common.h"

#include <apr_allocator.h>
#include <apr_hash.h>
#include <apr_tables.h>

#include <stdarg.h>
#include <stdint.h>

/* The header has a macro of this name. */
#undef apr_pcalloc
extern void* apr_pcalloc(apr_pool_t* pool, apr_size_t size);

static int one(int code) {
    printf("one: %d\n", code == APR_ENOMEM);
    return 0;
}
static int other(int code) {
    return code;
}

static void relations(void) {
    apr_pool_t* pool = pool_in(NULL);
    apr_pool_t* inner = pool_in(pool);
    apr_pool_t* innermost = pool_in(inner);
    apr_pool_t* beside = pool_in(pool);
    printf("parents %d %d\n", apr_pool_parent_get(inner) == pool,
           apr_pool_parent_get(pool) != NULL);
    printf("ancestors %d%d%d%d%d%d\n", apr_pool_is_ancestor(pool, innermost),
           apr_pool_is_ancestor(innermost, pool), apr_pool_is_ancestor(beside, innermost),
           apr_pool_is_ancestor(pool, pool), apr_pool_is_ancestor(NULL, pool),
           apr_pool_is_ancestor(pool, NULL));
    printf("root above all %d\n", apr_pool_is_ancestor(apr_pool_parent_get(pool), innermost));
    printf("allocators %d\n", apr_pool_allocator_get(inner) == apr_pool_allocator_get(pool));
    apr_pool_tag(pool, "a name");
    apr_pool_destroy(pool);
}

static void abort_functions(void) {
    apr_pool_t* pool = NULL;
    MUST(apr_pool_create_ex(&pool, NULL, one, NULL) == APR_SUCCESS);
    apr_pool_t* inner = pool_in(pool);
    printf("inherited %d\n", apr_pool_abort_get(inner) == one);
    apr_pool_abort_set(other, pool);
    printf("set %d %d\n", apr_pool_abort_get(pool) == other, apr_pool_abort_get(inner) == one);
    apr_pool_clear(pool);
    printf("kept %d\n", apr_pool_abort_get(pool) == other);
    apr_pool_abort_set(one, pool);
    void* (*volatile palloc)(apr_pool_t*, apr_size_t) = apr_palloc; /* no warning of the size */
    for (apr_size_t less = 0; less < 10000; less += 3333) {
        printf("none %d\n", palloc(pool, SIZE_MAX - less) == NULL);
    }
    printf("none %d\n", palloc(pool, SIZE_MAX / 2) == NULL);
    apr_pool_abort_set(NULL, pool);
    printf("none %d\n", palloc(pool, SIZE_MAX) == NULL);
    printf("some %d\n", apr_palloc(pool, 100) != NULL);
    apr_pool_destroy(pool);
}

static void user_data(void) {
    apr_pool_t* pool = pool_in(NULL);
    void* data = pool;
    char key[] = "key";
    printf("%d", apr_pool_userdata_get(&data, key, pool));
    printf(" %d\n", data == NULL);
    apr_pool_userdata_set("a", key, say, pool);
    apr_pool_userdata_setn("b", "other", NULL, pool);
    key[0] = 'b'; /* the first was copied */
    apr_pool_userdata_get(&data, "key", pool);
    printf("%s", (const char*)data);
    apr_pool_userdata_get(&data, "other", pool);
    printf(" %s", (const char*)data);
    apr_pool_userdata_get(&data, key, pool);
    printf(" %d", data == NULL);
    apr_pool_userdata_set("c", "key", say, pool); /* and the cleanup of the first stays */
    apr_pool_userdata_get(&data, "key", pool);
    printf(" %s", (const char*)data);
    apr_pool_userdata_set(NULL, "key", NULL, pool);
    apr_pool_userdata_get(&data, "key", pool);
    printf(" %d\n", data == NULL);
    apr_pool_t* inner = pool_in(pool);
    apr_pool_userdata_get(&data, "other", inner);
    printf("of this pool alone %d\n", data == NULL);
    apr_pool_clear(pool);
    apr_pool_userdata_get(&data, "other", pool);
    printf("gone %d\n", data == NULL);
    apr_pool_destroy(pool);
}

static void objects(void) {
    apr_pool_t* pool = pool_in(NULL);
    for (int round = 0; round < 3; ++round) {
        unsigned sum = 0;
        char* before = NULL;
        MUST(apr_palloc(pool, 0) != NULL);
        for (apr_size_t size = 1; size < 20000; size = size * 5 / 4 + 1) {
            char* object = apr_palloc(pool, size);
            MUST(object != NULL && object != before && (uintptr_t)object % 8 == 0);
            memset(object, 0xA5, size);
            char* zero = apr_pcalloc(pool, size);
            for (apr_size_t i = 0; i < size; ++i) {
                sum += (unsigned char)zero[i];
            }
            memset(zero, 0x5A, size);
            for (apr_size_t i = 0; i < size; ++i) {
                MUST((unsigned char)object[i] == 0xA5);
            }
            before = object;
        }
        printf("zero %u\n", sum);
        apr_pool_clear(pool);
    }
    char* large = apr_palloc(pool, 50000000);
    large[0] = large[49999999] = 1;
    apr_pool_destroy(pool);
}

static char* printed(apr_pool_t* pool, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char* text = apr_pvsprintf(pool, format, arguments);
    va_end(arguments);
    return text;
}

static void texts(void) {
    apr_pool_t* pool = pool_in(NULL);
    unsigned long hash = 0;
    for (int length = 0; length < 9000; length += 1 + length / 300) {
        char* text = apr_psprintf(pool, "%*d|", length, length);
        MUST(strlen(text) == (size_t)(length < 1 ? 2 : strlen(text)));
        for (const char* at = text; *at != '\0'; ++at) {
            hash = hash * 31 + (unsigned char)*at;
        }
    }
    printf("hash %lx\n", hash);
    char* long_one = apr_palloc(pool, 1000001);
    memset(long_one, 'x', 1000000);
    long_one[1000000] = '\0';
    char* twice = printed(pool, "%s-%s", long_one, long_one);
    printf("%zu %c\n", strlen(twice), twice[1000000]);
    printf("[%s] [%s] [%s]\n", apr_psprintf(pool, "%s", ""), printed(pool, "%5.2f%%", 3.14159),
           apr_psprintf(pool, "%pp %" APR_SIZE_T_FMT, (void*)NULL, (apr_size_t)7));
    printf("%s %s %s\n", apr_pstrdup(pool, "dup"), apr_pstrndup(pool, "ndup and more", 4),
           apr_pstrcat(pool, "a", "b", "c", NULL));
    printf("%s\n", (const char*)apr_pmemdup(pool, "memory", 7));
    apr_array_header_t* list = apr_array_make(pool, 1, sizeof(const char*));
    apr_table_t* table = apr_table_make(pool, 1);
    apr_hash_t* numbers = apr_hash_make(pool);
    for (int i = 0; i < 500; ++i) {
        char* name = apr_itoa(pool, i);
        *(const char**)apr_array_push(list) = name;
        apr_table_set(table, name, apr_psprintf(pool, "value %d", i));
        apr_hash_set(numbers, name, APR_HASH_KEY_STRING, name);
    }
    printf("%s\n", apr_array_pstrcat(pool, list, ','));
    printf("%s %u\n", apr_table_get(table, "499"), apr_hash_count(numbers));
    apr_pool_destroy(pool);
}

static void of_other_kinds(void) {
    apr_pool_t* pool = NULL;
    MUST(apr_pool_create_unmanaged_ex(&pool, one, NULL) == APR_SUCCESS);
    printf("unmanaged %d %d %d\n", apr_pool_parent_get(pool) == NULL,
           apr_allocator_owner_get(apr_pool_allocator_get(pool)) == pool,
           apr_pool_abort_get(pool) == one);
    apr_pool_cleanup_register(pool_in(pool), "inside unmanaged", say, apr_pool_cleanup_null);
    apr_palloc(pool, 100000);
    apr_pool_destroy(pool);
    MUST(apr_pool_create_core_ex(&pool, NULL, NULL) == APR_SUCCESS);
    printf("core %d\n", apr_pool_parent_get(pool) == NULL);
    apr_pool_destroy(pool);
    apr_allocator_t* allocator = NULL;
    MUST(apr_allocator_create(&allocator) == APR_SUCCESS);
    MUST(apr_pool_create_unmanaged_ex(&pool, NULL, allocator) == APR_SUCCESS);
    printf("with an allocator %d %d\n", apr_allocator_owner_get(allocator) == NULL,
           apr_pool_allocator_get(pool) == allocator);
    apr_pool_destroy(pool);
    MUST(apr_pool_create_ex(&pool, NULL, NULL, allocator) == APR_SUCCESS);
    apr_allocator_owner_set(allocator, pool);
    printf("owner %d\n", apr_allocator_owner_get(apr_pool_allocator_get(pool_in(pool))) == pool);
    apr_pool_destroy(pool);
}

static void debug_variants(void) {
    apr_pool_t* pool = NULL;
    apr_pool_t* alone = NULL;
    MUST(apr_pool_create_ex_debug(&pool, NULL, one, NULL, "place") == APR_SUCCESS);
    MUST(apr_pool_create_unmanaged_ex_debug(&alone, NULL, NULL, "place") == APR_SUCCESS);
    apr_pool_destroy_debug(alone, "place");
    MUST(apr_pool_create_core_ex_debug(&alone, NULL, NULL, "place") == APR_SUCCESS);
    char* object = apr_palloc_debug(pool, 10, "place");
    strcpy(object, "palloc");
    char* zero = apr_pcalloc_debug(pool, 10, "place");
    apr_pool_cleanup_register(pool, "debug", say, apr_pool_cleanup_null);
    printf("%s [%s]\n", object, zero);
    apr_pool_clear_debug(pool, "place");
    apr_pool_destroy_debug(pool, "place");
    apr_pool_destroy(alone);
}

int main(void) {
    begin();
    MUST(apr_initialize() == APR_SUCCESS); /* counted */
    apr_terminate();
    relations();
    abort_functions();
    user_data();
    objects();
    texts();
    of_other_kinds();
    debug_variants();
    return 0;
}

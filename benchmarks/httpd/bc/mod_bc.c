// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// GNU bc as a module of httpd: the body of a POST is a program, and what bc prints is the answer.
// All memory that bc allocates comes from a pool inside the request's. Objects that bc frees return
// to the pool if it has single frees, unless a setting forbids it.
//
//     LoadModule bc_module mod_bc.so
//     <Location /bc>
//         SetHandler bc
//         BcFrees On            return single objects to the pool
//         BcAccount Off         add a last line with the memory that the request took
//     </Location>
//
// bc has global variables, so one request of a process runs at a time. A program has no limit of
// time or memory. This is a measurement, not a service for others.
#include <httpd.h> // before the others, which need it

#include <apr_strings.h>
#include <growth.h>
#include <heapwright/c/apr.h>
#include <http_config.h>
#include <http_protocol.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>

#pragma weak apr_pfree

enum { kMostText = 64 * 1024, kUnset = -1 };

extern module AP_MODULE_DECLARE_DATA __attribute__((visibility("default"))) bc_module;

// Of bc.
int bc_main(int argc, char** argv);
int yylex_destroy(void);
extern FILE* yyin;

// What the patched sources use; see bc_module.h.
FILE* bcOutput;
void* bcAllocate(size_t size);
void bcRelease(void* object);
void bcEnd(int status) __attribute__((noreturn));
int bcPrint(const char* format, ...) __attribute__((format(printf, 1, 2)));

struct Settings {
    int frees, account;
};

static pthread_mutex_t running = PTHREAD_MUTEX_INITIALIZER;
static apr_pool_t* memory; ///< of the running program
static int freesObjects;
static apr_uint64_t allocations, releases;
static jmp_buf ending;

void* bcAllocate(size_t size) {
    ++allocations;
    return apr_palloc(memory, size);
}

void bcRelease(void* object) {
    if (object != NULL) {
        ++releases;
        if (freesObjects)
            apr_pfree(memory, object);
    }
}

void bcEnd(int status) {
    longjmp(ending, 1 + (status != 0));
}

int bcPrint(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int printed = vfprintf(bcOutput, format, arguments);
    va_end(arguments);
    return printed;
}

static ssize_t answer(void* request, const char* bytes, size_t length) {
    return ap_rwrite(bytes, (int)length, request) < 0 ? 0 : (ssize_t)length;
}

/// Runs a program that a file contains.
static void run(request_rec* request, int file) {
    char path[64];
    apr_snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    char name[] = "bc";
    char quiet[] = "-q";
    char* words[] = {name, quiet, path, NULL};
    const cookie_io_functions_t functions = {.write = answer};
    bcOutput = fopencookie(request, "w", functions);
    if (bcOutput == NULL)
        return;
    if (setjmp(ending) == 0)
        bcEnd(bc_main(3, words));
    // If the end came while bc read the file, the file is open. No file is closed twice: bc sets
    // `yyin` anew after it closes one. `yylex_destroy` makes it null for the next request.
    if (yyin != NULL && yyin != stdin)
        fclose(yyin);
    yylex_destroy();
    fclose(bcOutput);
}

static void calculate(request_rec* request, const struct Settings* settings, int file) {
    pthread_mutex_lock(&running);
    if (apr_pool_create(&memory, request->pool) == APR_SUCCESS) {
        freesObjects = settings->frees != 0 && apr_pfree != NULL;
        allocations = releases = 0;
        const size_t before = ownMemory();
        run(request, file);
        if (settings->account == 1)
            ap_rprintf(request,
                       "{\"single_frees\": %s, \"allocations\": %" APR_UINT64_T_FMT
                       ", \"releases\": %" APR_UINT64_T_FMT ", \"memory_grown\": %" APR_SIZE_T_FMT
                       "}\n",
                       freesObjects ? "true" : "false", allocations, releases, grownSince(before));
        apr_pool_destroy(memory);
    }
    pthread_mutex_unlock(&running);
}

/// Copies the body of a request to a file. Returns OK or a status.
static int readBody(request_rec* request, int file) {
    char part[4096];
    const int status = ap_setup_client_block(request, REQUEST_CHUNKED_DECHUNK);
    if (status != OK || !ap_should_client_block(request))
        return status;
    long all = 0;
    for (long got = 1; got > 0;) {
        got = ap_get_client_block(request, part, sizeof part);
        if (got < 0)
            return HTTP_BAD_REQUEST;
        all += got;
        if (all > kMostText)
            return HTTP_REQUEST_ENTITY_TOO_LARGE;
        if (write(file, part, (size_t)got) != got)
            return HTTP_INTERNAL_SERVER_ERROR;
    }
    return OK;
}

static int handle(request_rec* request) {
    if (request->handler == NULL || strcmp(request->handler, "bc") != 0)
        return DECLINED;
    if (request->method_number != M_POST)
        return HTTP_METHOD_NOT_ALLOWED;
    const int file = memfd_create("bc", MFD_CLOEXEC);
    if (file < 0)
        return HTTP_INTERNAL_SERVER_ERROR;
    const int status = readBody(request, file);
    if (status == OK) {
        ap_set_content_type(request, "text/plain");
        calculate(request, ap_get_module_config(request->per_dir_config, &bc_module), file);
    }
    close(file);
    return status;
}

static void* createSettings(apr_pool_t* pool, char* folder) {
    (void)folder;
    struct Settings* made = apr_palloc(pool, sizeof *made);
    *made = (struct Settings){kUnset, kUnset};
    return made;
}

static void* mergeSettings(apr_pool_t* pool, void* outer, void* inner) {
    const struct Settings* a = outer;
    const struct Settings* b = inner;
    struct Settings* made = apr_palloc(pool, sizeof *made);
    made->frees = b->frees == kUnset ? a->frees : b->frees;
    made->account = b->account == kUnset ? a->account : b->account;
    return made;
}

static const command_rec kCommands[] = {
    AP_INIT_FLAG("BcFrees", ap_set_flag_slot, (void*)APR_OFFSETOF(struct Settings, frees),
                 RSRC_CONF | ACCESS_CONF, "whether single objects are freed into the pool"),
    AP_INIT_FLAG("BcAccount", ap_set_flag_slot, (void*)APR_OFFSETOF(struct Settings, account),
                 RSRC_CONF | ACCESS_CONF, "whether a last line states the memory"),
    {0}};

static void registerHooks(apr_pool_t* pool) {
    (void)pool;
    ap_hook_handler(handle, NULL, NULL, APR_HOOK_MIDDLE);
}

AP_DECLARE_MODULE(bc) = {STANDARD20_MODULE_STUFF,
                         createSettings,
                         mergeSettings,
                         NULL,
                         NULL,
                         kCommands,
                         registerHooks,
                         0};

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The calculator as a module of httpd. The body of a POST is a program, and so is the text after
// the question mark of a GET. The printed text is the answer. All memory comes from a pool in the
// request's. On pools that have single frees the calculator uses them, unless a setting forbids it.
//
//     LoadModule calculator_module mod_calculator.so
//     <Location /calculator>
//         SetHandler calculator
//         CalculatorSteps 1000000      operations of one request, 0 for any number
//         CalculatorFrees On           give single objects back to the pool, where it takes them
//         CalculatorAccount Off        a last line tells what memory it took
//     </Location>
#include "apr_pool.h"
#include "calculator.h"
#include "growth.h"

#include <httpd.h> // before the others, which need it

#include <apr_strings.h>
#include <http_config.h>
#include <http_protocol.h>

enum { kMostText = 64 * 1024, kMostDigits = 100 * 1000, kMostElements = 1 << 20 };
enum { kUsualSteps = 20 * 1000 * 1000, kUnset = -1 };

extern module AP_MODULE_DECLARE_DATA __attribute__((visibility("default"))) calculator_module;

struct Settings {
    apr_int64_t steps;
    int frees, account;
};

static void* createSettings(apr_pool_t* pool, char* folder) {
    (void)folder;
    struct Settings* made = apr_palloc(pool, sizeof *made);
    *made = (struct Settings){kUnset, kUnset, kUnset};
    return made;
}

static void* mergeSettings(apr_pool_t* pool, void* outer, void* inner) {
    const struct Settings* a = outer;
    const struct Settings* b = inner;
    struct Settings* made = apr_palloc(pool, sizeof *made);
    made->steps = b->steps == kUnset ? a->steps : b->steps;
    made->frees = b->frees == kUnset ? a->frees : b->frees;
    made->account = b->account == kUnset ? a->account : b->account;
    return made;
}

static const char* setSteps(cmd_parms* command, void* settings, const char* text) {
    (void)command;
    char* end = NULL;
    ((struct Settings*)settings)->steps = apr_strtoi64(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0' ? NULL : "needs a number";
}

static void writeOut(void* request, const char* bytes, size_t length) {
    ap_rwrite(bytes, (int)length, request);
}

static void complain(void* request, const char* message) {
    ap_rprintf(request, "error: %s\n", message);
}

/// The body of a request; its text is of the pool. Answers a status, OK if all is well.
static int readBody(request_rec* request, apr_pool_t* pool, const char** text, size_t* length) {
    char* body = apr_palloc(pool, kMostText);
    const int status = ap_setup_client_block(request, REQUEST_CHUNKED_DECHUNK);
    if (status != OK)
        return status;
    *text = body;
    *length = 0;
    if (!ap_should_client_block(request))
        return OK;
    long got = 1;
    while (got > 0) {
        if (*length == kMostText)
            return HTTP_REQUEST_ENTITY_TOO_LARGE;
        got = ap_get_client_block(request, body + *length, kMostText - *length);
        *length += got > 0 ? (size_t)got : 0;
    }
    return got == 0 ? OK : HTTP_BAD_REQUEST;
}

static int readQuery(request_rec* request, apr_pool_t* pool, const char** text, size_t* length) {
    char* query = apr_pstrdup(pool, request->args == NULL ? "" : request->args);
    for (char* c = query; *c != '\0'; ++c)
        *c = *c == '+' ? ' ' : *c; // a plus that is meant comes as %2B
    if (*query != '\0' && ap_unescape_url_keep2f(query, 1) != OK)
        return HTTP_BAD_REQUEST;
    *text = query;
    *length = strlen(query);
    return OK;
}

static void calculate(request_rec* request, apr_pool_t* pool, const struct Settings* settings,
                      const char* text, size_t length) {
    const struct CalculatorPool memory = aprPool(pool, settings->frees != 0);
    const struct CalculatorOutput output = {writeOut, complain, request};
    const struct CalculatorLimits limits = {settings->steps == kUnset ? kUsualSteps
                                                                      : (uint64_t)settings->steps,
                                            kMostDigits, kMostElements, 70};
    const size_t before = settings->account == 1 ? ownMemory() : 0;
    struct Calculator* calculator = calculatorCreate(&memory, &output, &limits);
    if (calculator == NULL) {
        complain(request, "out of memory");
        return;
    }
    calculatorRun(calculator, text, length);
    const size_t memoryGrown = settings->account == 1 ? grownSince(before) : 0;
    calculatorDestroy(calculator);
    if (settings->account == 1)
        ap_rprintf(request, "{\"single_frees\": %s, \"memory_grown\": %" APR_SIZE_T_FMT "}\n",
                   memory.release == NULL ? "false" : "true", memoryGrown);
}

static int handle(request_rec* request) {
    if (request->handler == NULL || strcmp(request->handler, "calculator") != 0)
        return DECLINED;
    if (request->method_number != M_GET && request->method_number != M_POST)
        return HTTP_METHOD_NOT_ALLOWED;
    apr_pool_t* pool = NULL;
    if (apr_pool_create(&pool, request->pool) != APR_SUCCESS)
        return HTTP_INTERNAL_SERVER_ERROR;
    const char* text = NULL;
    size_t length = 0;
    const int status = request->method_number == M_POST ? readBody(request, pool, &text, &length)
                                                        : readQuery(request, pool, &text, &length);
    if (status == OK) {
        ap_set_content_type(request, "text/plain");
        if (!request->header_only)
            calculate(request, pool,
                      ap_get_module_config(request->per_dir_config, &calculator_module), text,
                      length);
    }
    apr_pool_destroy(pool);
    return status;
}

static const command_rec kCommands[] = {
    AP_INIT_TAKE1("CalculatorSteps", setSteps, NULL, RSRC_CONF | ACCESS_CONF,
                  "the operations of one request"),
    AP_INIT_FLAG("CalculatorFrees", ap_set_flag_slot, (void*)APR_OFFSETOF(struct Settings, frees),
                 RSRC_CONF | ACCESS_CONF, "whether single objects are freed into the pool"),
    AP_INIT_FLAG("CalculatorAccount", ap_set_flag_slot,
                 (void*)APR_OFFSETOF(struct Settings, account), RSRC_CONF | ACCESS_CONF,
                 "whether a last line tells what memory was used"),
    {0}};

static void registerHooks(apr_pool_t* pool) {
    (void)pool;
    ap_hook_handler(handle, NULL, NULL, APR_HOOK_MIDDLE);
}

AP_DECLARE_MODULE(calculator) = {STANDARD20_MODULE_STUFF,
                                 createSettings,
                                 mergeSettings,
                                 NULL,
                                 NULL,
                                 kCommands,
                                 registerHooks,
                                 0};

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Libraries that are loaded later: their memory passes between them and the program, even with deep
// binding, and the loader still finds the right caller.
#include "conformance/suite.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

using namespace conformance;

namespace {

void* open(const char* file, int flags) {
    void* library = ::dlopen(pluginPath(file), flags);
    if (library == nullptr) {
        fail(::dlerror());
    }
    return library;
}

template <class Function>
Function* look(void* library, const char* name) {
    auto* function = reinterpret_cast<Function*>(::dlsym(library, name));
    require(function != nullptr, name);
    return function;
}

/// The plugin's objects are freed and resized here, and the program's objects there.
void exchange(void* library) {
    auto* make = look<char*(std::size_t)>(library, "pluginMake");
    auto* text = look<char*(const char*)>(library, "pluginText");
    auto* take = look<void(void*)>(library, "pluginTake");
    for (std::size_t size = 1; size < 2'000'000; size = size * 3 + 1) {
        void* theirs = make(size);
        require(theirs != nullptr, "the plugin's malloc gave nothing");
        fill(theirs, size, 2);
        theirs = std::realloc(theirs, size + 500);
        requireFilled(theirs, size, 2);
        std::free(theirs);
        take(std::malloc(size));
        take(std::calloc(1, size));
    }
    char* copy = text("a text from the C library");
    require(std::strcmp(copy, "a text from the C library") == 0, "the text is another");
    std::free(copy);
    take(::strdup("back"));
}

void plugin() {
    for (int round = 0; round < 5; ++round) {
        void* library = open("libexchange.so", RTLD_NOW);
        exchange(library);
        require(::dlclose(library) == 0, "dlclose");
    }
    void* library = open("libexchange.so", RTLD_LAZY | RTLD_GLOBAL);
    exchange(library);
}

void deep() {
    void* library = open("libexchange.so", RTLD_NOW | RTLD_DEEPBIND);
    exchange(library);
    require(::dlclose(library) == 0, "dlclose");
    library = ::dlmopen(LM_ID_BASE, pluginPath("libexchange.so"), RTLD_LAZY | RTLD_DEEPBIND);
    require(library != nullptr, "dlmopen");
    exchange(library);
}

void runpath() {
    require(::dlopen("libneighbour.so", RTLD_NOW) == nullptr,
            "the neighbour is found without its caller");
    void* caller = open("libcaller.so", RTLD_NOW);
    for (const char* how : {"callerOpen", "callerOpenNamespace"}) {
        auto* byCaller = look<void*(const char*, int)>(caller, how);
        for (const int flags : {RTLD_NOW, RTLD_LAZY | RTLD_DEEPBIND}) {
            for (const char* name : {"libneighbour.so", "$ORIGIN/neighbours/libneighbour.so"}) {
                void* neighbour = byCaller(name, flags);
                require(neighbour != nullptr, "the caller's own folder was not searched");
                auto* make = look<void*()>(neighbour, "neighbourMake");
                std::free(make());
                require(::dlclose(neighbour) == 0, "dlclose");
            }
        }
    }
}

void missing() {
    for (int i = 0; i < 100; ++i) {
        require(::dlopen("libthere-is-no-such.so", RTLD_NOW) == nullptr, "found");
        require(std::strstr(::dlerror(), "no-such") != nullptr, "no reason");
    }
    require(::dlopen(nullptr, RTLD_NOW) != nullptr, "the program itself");
}

const Case cases[] = {
    {"plugin", Demand::standard,
     "memory crosses the border of a library opened at run time, and it can close", plugin},
    {"deep-binding", Demand::robust,
     "memory crosses the border of a library opened with RTLD_DEEPBIND", deep},
    {"caller-runpath", Demand::robust, "dlopen searches the RUNPATH of the library that calls it",
     runpath},
    {"plugin-missing", Demand::standard,
     "dlopen of a missing file reports an error, and has no other effect", missing},
};

} // namespace

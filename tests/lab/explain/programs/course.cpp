// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs whose memory is not one thing alone. The argument says which:
//   beside     a leak beside a cache that is larger and has stopped growing
//   base       a slow leak beside a large stable base, which main alone points to
//   global     a global container that grows until the end, and that its destructor frees
//   _exit      the same, which ends with _exit
//   sessions   strings in a global map
//   child      a forked process whose blocks hang from one that it inherited
//   workers    two forked processes that leak until the end
//   teardown   a table that is freed at the end without what it pointed to
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#define PLACE __attribute__((noinline))

namespace {

constexpr int turns = 400;

struct Item {
    char content[1000];
};
std::vector<std::unique_ptr<Item>> items;
std::map<int, std::string> sessions;
std::map<int, std::string> cache;
void* volatile seen;

PLACE void forget(std::size_t size) {
    seen = std::memset(std::malloc(size), 1, size);
    seen = nullptr;
}

PLACE void fill_cache(int number) {
    cache[number] = std::string(20'000, 'c');
}

PLACE void open_session(int number) {
    sessions[number] = std::string(2000, 's');
}

PLACE void keep_item() {
    items.push_back(std::make_unique<Item>());
}

PLACE void request() {
    for (std::size_t size = 100; size < 2000; size += 100)
        seen = std::string(size, 'r').data();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
}

PLACE char** makeTable(int count) {
    char** const table = static_cast<char**>(std::malloc(sizeof(char*) * 100));
    for (int i = 0; i < count; ++i)
        table[i] = static_cast<char*>(std::malloc(5000));
    return table;
}

PLACE void serve(const std::string& what) {
    for (int i = 0; i < turns; ++i) {
        if (what == "beside" && i < turns / 3)
            fill_cache(i);
        if (what == "beside" || what == "base" || what == "workers")
            forget(1000);
        if (what == "global" || what == "_exit")
            keep_item();
        if (what == "sessions" || what == "child")
            open_session(i);
        request();
    }
}

} // namespace

int main(int count, char** arguments) {
    const std::string what = count > 1 ? arguments[1] : "";
    char* base[20] = {};
    char** table = nullptr;
    if (what == "base") {
        for (char*& block : base)
            block = static_cast<char*>(std::memset(std::malloc(1 << 20), 1, 1 << 20));
    }
    if (what == "teardown")
        table = makeTable(100);
    if (what == "child") {
        open_session(-1);
        const pid_t child = fork();
        if (child != 0) {
            waitpid(child, nullptr, 0);
            return 0;
        }
    }
    if (what == "workers" && fork() != 0) {
        if (fork() != 0) {
            while (wait(nullptr) > 0) {
            }
            return 0;
        }
    }
    serve(what);
    seen = base[19];
    std::free(table);
    if (what == "_exit" || what == "child" || what == "workers")
        _exit(0);
    return 0;
}

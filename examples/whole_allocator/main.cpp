// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A whole allocator for a program that does not know of it: linked with `heapwright::lea`, its
// malloc and operator new are the library's. Which it is, the dynamic linker says.
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <iostream>
#include <memory>
#include <string>

namespace {

/// The file that a function of the program comes from, without its folder.
template <class Function>
std::string fileOf(Function* function) {
    Dl_info info = {};
    if (dladdr(reinterpret_cast<void*>(function), &info) == 0) {
        return "nowhere";
    }
    const std::string path = info.dli_fname;
    return path.substr(path.find_last_of('/') + 1);
}

} // namespace

int main() {
    void* const malloced = std::malloc(100);
    const auto number = std::make_unique<int>(42);
    std::cout << "malloc: " << fileOf(&std::malloc) << '\n';
    std::cout << "operator new: " << fileOf(static_cast<void* (*)(std::size_t)>(&operator new))
              << '\n';
    std::free(malloced);
    return *number == 42 ? 0 : 1;
}

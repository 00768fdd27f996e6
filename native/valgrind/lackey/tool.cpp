// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Searches the tool where the launcher would: in VALGRIND_LIB, or in the usual folders of
// distributions beside the launcher's own.
#include "tool.hpp"

#include <cstdlib>
#include <string_view>
#include <unistd.h>

namespace heapwright::valgrind {

namespace {

constexpr char toolName[] = "/lackey-amd64-linux";
constexpr const char* folders[] = {"/../libexec/valgrind", "/../lib/valgrind",
                                   "/../lib/x86_64-linux-gnu/valgrind", "/../lib64/valgrind"};

bool runs(const std::string& path) {
    return access(path.c_str(), X_OK) == 0;
}

std::string inPath(const char* name) {
    const char* const path = std::getenv("PATH");
    std::string_view left = path != nullptr ? path : "/usr/bin:/bin";
    while (!left.empty()) {
        const std::size_t end = left.find(':');
        const std::string candidate = std::string(left.substr(0, end)) + '/' + name;
        if (runs(candidate)) {
            return candidate;
        }
        left.remove_prefix(end == std::string_view::npos ? left.size() : end + 1);
    }
    return {};
}

} // namespace

Tool findTool() {
    Tool tool;
    tool.launcher = inPath("valgrind");
    tool.program = tool.launcher;
    if (const char* const library = std::getenv("VALGRIND_LIB")) {
        if (runs(std::string(library) + toolName)) {
            tool.program = std::string(library) + toolName;
        }
        return tool;
    }
    char* const real = realpath(tool.launcher.c_str(), nullptr);
    if (real == nullptr) {
        return tool;
    }
    const std::string folder(real, std::string_view(real).rfind('/'));
    std::free(real);
    for (const char* const each : folders) {
        if (runs(folder + each + toolName)) {
            tool.program = folder + each + toolName;
            break;
        }
    }
    return tool;
}

} // namespace heapwright::valgrind

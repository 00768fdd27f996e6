// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "target.hpp"

#include "look/mappings.hpp"
#include "look/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace heapwright::attach {

namespace {

/// The part of malloc.c before its first exported function.
constexpr Address staticFunctions = 24 << 10;
constexpr Address behindFunctions = 4 << 10;

constexpr const char* allocatorFunctions[] = {
    "malloc",   "free",      "calloc",         "realloc",     "memalign",           "aligned_alloc",
    "valloc",   "pvalloc",   "posix_memalign", "malloc_trim", "malloc_usable_size", "mallopt",
    "mallinfo", "mallinfo2", "malloc_stats",   "malloc_info"};

/// They hold a lock that loading a library takes.
constexpr const char* lockingFunctions[] = {"dl_iterate_phdr",
                                            "dlopen",
                                            "dlmopen",
                                            "dlclose",
                                            "dlsym",
                                            "dlvsym",
                                            "dladdr",
                                            "dladdr1",
                                            "dlinfo",
                                            "fork",
                                            "_Fork",
                                            "__libc_fork",
                                            "pthread_create",
                                            "__register_atfork",
                                            "__cxa_atexit",
                                            "__cxa_finalize",
                                            "exit",
                                            "quick_exit",
                                            "pthread_exit"};

std::string linkOf(const std::string& path) {
    std::error_code error;
    const std::filesystem::path found = std::filesystem::read_symlink(path, error);
    return error ? std::string() : found.string();
}

/// The text behind a name in /proc/PID/status.
std::string field(const std::string& text, const std::string& name) {
    const std::size_t at = text.find("\n" + name + ":");
    if (at == std::string::npos) {
        return {};
    }
    const std::size_t begin = text.find_first_not_of(" \t", at + name.size() + 2);
    return text.substr(begin, text.find('\n', begin) - begin);
}

std::string content(const std::string& path) {
    try {
        return look::contentOf(path);
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::permission_denied ||
            error.code() == std::errc::operation_not_permitted) {
            throw Denial(path + " cannot be read");
        }
        throw Ended("the process has ended");
    }
}

/// The kernel marks a file that was replaced after the process began.
std::string_view fileName(std::string_view path) {
    constexpr std::string_view mark = " (deleted)";
    if (path.size() > mark.size() && path.substr(path.size() - mark.size()) == mark) {
        path.remove_suffix(mark.size());
    }
    return path.substr(path.rfind('/') + 1);
}

bool isOfAgent(const look::Mapping& mapping) {
    return fileName(mapping.path) == agentName;
}

} // namespace

Target::Target(pid_t pid, Purpose purpose)
    : pid_(pid), folder_("/proc/" + std::to_string(pid)), started_(look::startOf(pid)) {
    if (started_.empty()) {
        throw Ended("there is no process " + std::to_string(pid) + ", or it has ended");
    }
    if (purpose == Purpose::begin) {
        checkOwner();
        checkStatus();
    }
    checkLibraries(purpose);
    findFunctions(libc_);
    addAllocators();
}

std::vector<look::Mapping> Target::mappings() const {
    return look::parseMappings(content(folder_ + "/maps"));
}

std::vector<pid_t> Target::threads() const {
    std::vector<pid_t> found;
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/task", none)) {
        found.push_back(std::atoi(entry.path().filename().c_str()));
    }
    std::sort(found.begin(), found.end());
    return found;
}

bool Target::isAlive() const {
    return look::startOf(pid_) == started_;
}

void Target::checkOwner() const {
    struct stat facts = {};
    if (::stat(folder_.c_str(), &facts) != 0) {
        throw Ended("the process has ended");
    }
    // Of a process that forbids to be traced, root is the owner of the folder.
    const std::string status = content(folder_ + "/status");
    std::istringstream users(field(status, "Uid"));
    unsigned user = 0;
    while (users >> user) {
        if (user != ::geteuid()) {
            throw Refusal("it belongs to user " + std::to_string(user) + ", and this is user " +
                          std::to_string(::geteuid()) + "; run the command as that user");
        }
    }
    for (const char* const space : {"mnt", "user", "pid"}) {
        const std::string path = std::string("/ns/") + space;
        const std::string theirs = linkOf(folder_ + path);
        if (theirs.empty()) {
            throw Denial(folder_ + path + " cannot be read");
        }
        if (theirs != linkOf("/proc/self" + path)) {
            throw Refusal(std::string("it is in another namespace (") + space +
                          "), so it does not see the same files; run the command in its container");
        }
    }
}

void Target::checkStatus() const {
    const std::string status = content(folder_ + "/status");
    const std::string state = field(status, "State").substr(0, 1);
    if (state == "T" || state == "t") {
        throw Refusal("it is stopped, so it cannot load the recorder; continue it first");
    }
    if (const std::string tracer = field(status, "TracerPid"); tracer != "0" && !tracer.empty()) {
        throw Refusal("process " + tracer + " traces it already; end that trace first");
    }
    if (field(status, "x86_Thread_features").find("shstk") != std::string::npos) {
        throw Refusal("it has a shadow stack, which forbids calls from outside");
    }
    for (const pid_t thread : threads()) {
        std::string mode;
        try {
            mode =
                field(content(folder_ + "/task/" + std::to_string(thread) + "/status"), "Seccomp");
        } catch (const Ended&) {
            continue; // the thread
        }
        if (mode != "0" && !mode.empty()) {
            throw Refusal("it has a seccomp filter, which may end it for a system call of the "
                          "recorder; start it without the filter to record it");
        }
    }
}

void Target::checkLibraries(Purpose purpose) {
    bool hasLoader = false;
    for (const look::Mapping& mapping : mappings()) {
        const std::string_view name = fileName(mapping.path);
        if (name.find("ld-musl") == 0 || name.find("libc.musl") == 0) {
            throw Refusal("its C library is musl, and only glibc is supported");
        }
        if (mapping.path.find("/valgrind/") != std::string::npos) {
            throw Refusal("it runs under valgrind, which executes other code than its own");
        }
        if (name == "libheapwright-recorder.so") {
            throw Refusal("it is recorded already, by heapwright record");
        }
        if (isOfAgent(mapping) && purpose == Purpose::begin) {
            throw Refusal(
                "it is recorded already, or a recording that was killed left its library; "
                "stop it with heapwright attach --clear " +
                std::to_string(pid_));
        }
        hasLoader = hasLoader || name.find("ld-linux") == 0 || name.find("ld-2.") == 0;
        if ((name == "libc.so.6" || name.find("libc-2.") == 0) && libc_ == 0) {
            libc_ = mapping.begin;
        }
    }
    if (libc_ == 0) {
        throw Refusal(hasLoader ? "it has not loaded glibc"
                                : "it is a static program, which cannot load the recorder");
    }
}

void Target::findFunctions(Address base) {
    const Symbols libc = readSymbols(pid_, base);
    if (libc.functions.empty()) {
        if (!isAlive()) {
            throw Ended("the process has ended");
        }
        throw Denial("its memory cannot be read");
    }
    const auto loads = libc.functions.find("dlopen");
    const auto unloads = libc.functions.find("dlclose");
    if (loads == libc.functions.end() || unloads == libc.functions.end()) {
        throw Refusal("its glibc is older than 2.34, whose loader cannot be called safely");
    }
    dlopen_ = loads->second;
    dlclose_ = unloads->second;
    signalReturn_ = findSignalReturn(libc);
    Range allocator = {~Address{0}, 0};
    for (const char* const name : allocatorFunctions) {
        if (const auto found = libc.functions.find(name); found != libc.functions.end()) {
            allocator.begin = std::min(allocator.begin, found->second.begin);
            allocator.end = std::max(allocator.end, found->second.end);
        }
    }
    unsafe_.push_back({allocator.begin - staticFunctions, allocator.end + behindFunctions});
    for (const char* const name : lockingFunctions) {
        if (const auto found = libc.functions.find(name); found != libc.functions.end()) {
            unsafe_.push_back({found->second.begin, found->second.end});
        }
    }
}

/// The two instructions with which glibc ends each handler of a signal.
Address Target::findSignalReturn(const Symbols& libc) const {
    static constexpr unsigned char code[] = {0x48, 0xC7, 0xC0, 0x0F, 0, 0, 0, 0x0F, 0x05};
    std::vector<unsigned char> text(libc.textEnd - libc.textBegin);
    if (!readMemory(pid_, libc.textBegin, text.data(), text.size())) {
        throw Denial("its memory cannot be read");
    }
    const auto found = std::search(text.begin(), text.end(), std::begin(code), std::end(code));
    if (found == text.end()) {
        throw Refusal("this glibc ends handlers of signals in an unknown way");
    }
    return libc.textBegin + static_cast<Address>(found - text.begin());
}

/// The code of the loader, of each other object that serves malloc, and of the agent.
void Target::addAllocators() {
    std::map<std::string, Address> objects;
    for (const look::Mapping& mapping : mappings()) {
        if (mapping.isFile()) {
            objects.emplace(mapping.path, mapping.begin);
        }
    }
    for (const auto& [path, base] : objects) {
        if (base == libc_) {
            continue;
        }
        const std::string_view name = fileName(path);
        const Symbols object = readSymbols(pid_, base);
        if (object.textEnd != 0 && (name.find("ld-linux") == 0 || name == agentName ||
                                    object.functions.count("malloc") != 0)) {
            unsafe_.push_back({object.textBegin, object.textEnd});
        }
    }
}

bool Target::hasAgent() const {
    const std::vector<look::Mapping> all = mappings();
    return std::any_of(all.begin(), all.end(), isOfAgent);
}

Symbols Target::agent() const {
    for (const look::Mapping& mapping : mappings()) {
        if (isOfAgent(mapping)) {
            return readSymbols(pid_, mapping.begin);
        }
    }
    return {};
}

bool mayHoldAgent(pid_t pid) {
    std::error_code none;
    for (const auto& thread :
         std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/task", none)) {
        try {
            const auto all = look::parseMappings(content(thread.path().string() + "/maps"));
            if (std::any_of(all.begin(), all.end(), isOfAgent)) {
                return true;
            }
        } catch (const Denial&) {
            return true;
        } catch (const Ended&) {
            continue; // this thread
        }
    }
    return false;
}

} // namespace heapwright::attach

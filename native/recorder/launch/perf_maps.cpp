// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See perf_maps.hpp. Everyone may write to /tmp, so a link is not followed, and the file has to
// belong to this user.
#include "perf_maps.hpp"

#include "perf_map.hpp"
#include "records.hpp"
#include "trace/reader.hpp"
#include "trace/stack_table.hpp"

#include <charconv>
#include <cstdio>
#include <dirent.h>
#include <exception>
#include <fcntl.h>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace heapwright::recorder::launch {

namespace {

constexpr char folder[] = "/tmp";
constexpr std::uint64_t second = 1'000'000'000;

struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

/// The numbers of all processes that have a map now.
std::set<std::uint32_t> mapped() {
    std::set<std::uint32_t> found;
    DIR* const entries = ::opendir(folder);
    if (entries == nullptr) {
        return found;
    }
    while (const dirent* const entry = ::readdir(entries)) {
        constexpr std::string_view begin = "perf-";
        const std::string_view name = entry->d_name;
        std::uint32_t pid = 0;
        if (name.starts_with(begin)) {
            const char* const number = name.data() + begin.size();
            const char* const last = name.data() + name.size();
            const auto [end, error] = std::from_chars(number, last, pid);
            if (error == std::errc() && std::string_view(end, last) == ".map") {
                found.insert(pid);
            }
        }
    }
    ::closedir(entries);
    return found;
}

/// The map of a process; null if it is not one of this user and of this recording.
File open(std::uint32_t pid, std::uint64_t startUtc) {
    const std::string path = std::string(folder) + "/perf-" + std::to_string(pid) + ".map";
    const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat status = {};
    if (file < 0) {
        return nullptr;
    }
    if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid() ||
        static_cast<std::uint64_t>(status.st_mtim.tv_sec) + 1 < startUtc / second) {
        ::close(file);
        return nullptr;
    }
    return File(::fdopen(file, "r"));
}

void add(const std::vector<MappedCode>& codes, std::uint32_t process, Records& records) {
    for (const MappedCode& code : codes) {
        const trace::CompiledCode fields{code.begin, code.end, process, 0};
        records.append(trace::record::compiledCode, trace::Piece{&fields, sizeof fields},
                       trace::Piece{code.name.data(), code.name.size()});
    }
}

} // namespace

void keepPerfMaps(NewTrace& trace, const char* path) {
    const std::set<std::uint32_t> pids = mapped();
    if (pids.empty()) {
        return;
    }
    try {
        const trace::Trace written(path);
        std::unique_ptr<trace::StackTable> stacks;
        std::unique_ptr<Records> records;
        for (const trace::ProcessInfo& process : written.processes()) {
            const File file =
                pids.contains(process.pid) ? open(process.pid, trace.header().startUtc) : nullptr;
            if (file == nullptr) {
                continue;
            }
            if (stacks == nullptr) {
                stacks = std::make_unique<trace::StackTable>(written);
            }
            const auto codes = readPerfMap(file.get(), stacks->strays(process.process));
            if (records == nullptr && !codes.empty()) {
                records = std::make_unique<Records>(trace, Records::large);
            }
            if (!codes.empty()) {
                add(codes, process.process, *records);
            }
        }
        if (records != nullptr) {
            records->finish();
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "heapwright-record: the names of compiled code are not kept: %s\n",
                     error.what());
    }
}

} // namespace heapwright::recorder::launch

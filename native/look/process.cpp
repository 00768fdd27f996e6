// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"

#include "mappings.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sstream>
#include <sys/uio.h>
#include <system_error>
#include <unistd.h>

namespace heapwright::look {

namespace {

int opened(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        throw std::system_error(errno, std::generic_category(), path);
    }
    return file;
}

} // namespace

std::string startOf(pid_t pid) {
    std::string text;
    try {
        text = contentOf("/proc/" + std::to_string(pid) + "/stat");
    } catch (const std::system_error&) {
        return {};
    }
    // The name is in parentheses and may have any character. The state follows, and 19 fields
    // later the start time.
    std::istringstream words(text.substr(std::min(text.rfind(')') + 1, text.size())));
    std::string state, found;
    words >> state;
    for (int field = 0; field < 19; ++field) {
        words >> found;
    }
    return state == "Z" || state == "X" ? std::string() : found;
}

ProcessImage::ProcessImage(pid_t pid)
    : folder_("/proc/" + std::to_string(pid)), pid_(pid), memory_(opened(folder_ + "/mem")),
      pagemap_(opened(folder_ + "/pagemap")), started_(startOf(pid)),
      mappings_(parseMappings(contentOf(folder_ + "/smaps"))) {}

ProcessImage::~ProcessImage() {
    close(memory_);
    close(pagemap_);
}

std::vector<Mapping> ProcessImage::mappingsNow() const {
    return parseMappings(contentOf(folder_ + "/maps"));
}

bool ProcessImage::isAlive() const {
    return !started_.empty() && startOf(pid_) == started_;
}

void ProcessImage::pages(Address at, std::size_t count, Page* to) const {
    constexpr std::size_t atOnce = 4096;
    constexpr std::uint64_t present = std::uint64_t{1} << 63;
    constexpr std::uint64_t swapped = std::uint64_t{1} << 62;
    std::uint64_t entries[atOnce];
    while (count > 0) {
        const std::size_t wanted = std::min(count, atOnce);
        const auto offset = static_cast<off_t>(at / pageBytes * sizeof *entries);
        const ssize_t got = pread(pagemap_, entries, wanted * sizeof *entries, offset);
        const std::size_t read = got > 0 ? static_cast<std::size_t>(got) / sizeof *entries : 0;
        for (std::size_t page = 0; page < wanted; ++page) {
            const std::uint64_t entry = page < read ? entries[page] : 0;
            to[page] = (entry & present) != 0   ? Page::resident
                       : (entry & swapped) != 0 ? Page::swapped
                                                : Page::absent;
        }
        at += wanted * pageBytes;
        to += wanted;
        count -= wanted;
    }
}

/// A container may forbid the system call, but not the file.
std::size_t ProcessImage::copy(Address at, char* to, std::size_t bytes) const {
    const iovec local = {to, bytes};
    const iovec remote = {reinterpret_cast<void*>(at), bytes};
    ssize_t got = process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (got < 0 && (errno == EPERM || errno == ENOSYS)) {
        got = pread(memory_, to, bytes, static_cast<off_t>(at));
    }
    return got > 0 ? static_cast<std::size_t>(got) : 0;
}

bool ProcessImage::read(Address at, void* to, std::size_t bytes) const {
    constexpr std::size_t atOnce = 512;
    Page states[atOnce];
    auto* bytesTo = static_cast<char*>(to);
    bool complete = true;
    while (bytes > 0) {
        const Address first = pageDown(at);
        const std::size_t count =
            std::min<std::uint64_t>(atOnce, (pageUp(at + bytes) - first) / pageBytes);
        pages(first, count, states);
        for (std::size_t page = 0; page < count;) {
            std::size_t behind = page + 1;
            while (behind < count &&
                   (states[behind] == Page::absent) == (states[page] == Page::absent)) {
                ++behind;
            }
            const Address end = std::min(first + behind * pageBytes, at + bytes);
            const std::size_t part = end - at;
            if (states[page] == Page::absent) {
                std::memset(bytesTo, 0, part);
            } else {
                const std::size_t done = copy(at, bytesTo, part);
                if (done < part) {
                    std::memset(bytesTo + done, 0, part - done);
                    complete = false;
                }
            }
            bytesTo += part;
            bytes -= part;
            at = end;
            page = behind;
        }
    }
    return complete;
}

} // namespace heapwright::look

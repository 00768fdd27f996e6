// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "watched.hpp"

#include <cstdio>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace heapwright::recorder::watch {

namespace {

constexpr unsigned mostSkipped = 100;
constexpr std::size_t piece = 64 << 10;

int openFolder(pid_t pid) {
    char path[32];
    std::snprintf(path, sizeof path, "/proc/%d", pid);
    return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/// As the files of /proc name a device.
std::string deviceName(dev_t device) {
    char text[32];
    std::snprintf(text, sizeof text, "%02x:%02x", major(device), minor(device));
    return text;
}

} // namespace

Watched::Watched(TraceFile& file, std::uint32_t process, pid_t pid)
    : file_(&file), pid_(pid), folder_(openFolder(pid)),
      parser_(deviceName(file.device()), file.inode()), blocks_(file, process) {}

Watched::~Watched() {
    if (folder_ >= 0) {
        close(folder_);
    }
}

bool Watched::look() {
    if (folder_ < 0 || (!unchanged() && !readMappings())) {
        return false;
    }
    sample_.time = file_->ticks();
    if (!blocks_.add(sample_)) {
        return false;
    }
    if (parser_.objects() != objects_ && blocks_.addObjects(parser_.objects())) {
        objects_ = parser_.objects();
    }
    return true;
}

/// Opened anew each time: what is open still speaks of the program that was there before an exec.
bool Watched::readText(const char* name, std::string& text) const {
    const int file = openat(folder_, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return false;
    }
    std::size_t length = 0;
    for (;;) {
        text.resize(length + piece);
        const ssize_t got = read(file, text.data() + length, piece);
        if (got <= 0) {
            break;
        }
        length += static_cast<std::size_t>(got);
    }
    close(file);
    text.resize(length);
    return length != 0;
}

/// Whether the process has as much memory as when its mappings were read.
bool Watched::unchanged() {
    if (!readText("statm", text_)) {
        return false;
    }
    const bool same = text_ == brief_ && ++skipped_ < mostSkipped;
    brief_ = text_;
    return same;
}

bool Watched::readMappings() {
    skipped_ = 0;
    if (!readText("smaps", text_)) {
        return false;
    }
    parser_.parse(text_, sample_);
    return true;
}

} // namespace heapwright::recorder::watch

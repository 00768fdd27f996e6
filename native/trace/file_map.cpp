// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/file_map.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace heapwright::trace {

namespace {
[[noreturn]] void refuse(const std::string& path, int error) {
    throw std::system_error(error, std::generic_category(), path);
}
} // namespace

FileMap::FileMap(const std::string& path) : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (file_ < 0)
        refuse(path, errno);
    struct stat facts {};
    int error = ::fstat(file_, &facts) == 0 ? 0 : errno;
    if (error == 0 && !S_ISREG(facts.st_mode)) {
        ::close(file_);
        throw std::runtime_error(path + ": not a regular file");
    }
    const auto size = static_cast<std::size_t>(facts.st_size);
    if (error == 0 && size != 0) {
        void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file_, 0);
        error = at == MAP_FAILED ? errno : 0;
        if (error == 0) {
            ::madvise(at, size, MADV_SEQUENTIAL);
            bytes_ = {static_cast<const std::byte*>(at), size};
            gone_.resize((size >> windowShift) + 1);
        }
    }
    if (error != 0) {
        ::close(file_);
        refuse(path, error);
    }
}

FileMap::~FileMap() {
    if (file_ < 0)
        return;
    if (!bytes_.empty())
        ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    ::close(file_);
}

bool FileMap::reaches(std::uint64_t size) const noexcept {
    struct stat facts {};
    return file_ < 0 ||
           (::fstat(file_, &facts) == 0 && static_cast<std::uint64_t>(facts.st_size) >= size);
}

void FileMap::letGo(std::uint64_t offset, std::size_t count) const noexcept {
    if (file_ < 0)
        return;
    constexpr std::uint64_t window = std::uint64_t{1} << windowShift;
    if (count >= window) {
        drop(offset, count);
        return;
    }
    constexpr std::uint32_t most = window / 4 * 3;
    std::uint32_t& gone = gone_[offset >> windowShift];
    gone = std::min(gone, most) + static_cast<std::uint32_t>(count);
    if (gone >= most)
        drop(offset & ~(window - 1), window);
}

void FileMap::drop(std::uint64_t offset, std::size_t count) const noexcept {
    // A page that is touched brings its neighbours with it, which may have been let go before.
    constexpr std::uint64_t around = 64 << 10;
    const std::uint64_t start = offset > around ? offset - around : 0;
    const std::uint64_t end = std::min<std::uint64_t>(offset + count + around, bytes_.size());
    ::madvise(const_cast<std::byte*>(bytes_.data()) + start, end - start, MADV_DONTNEED);
}

} // namespace heapwright::trace

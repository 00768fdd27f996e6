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

FileMap::FileMap(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0)
        refuse(path, errno);
    struct stat facts {};
    int error = ::fstat(file, &facts) == 0 ? 0 : errno;
    if (error == 0 && !S_ISREG(facts.st_mode)) {
        ::close(file);
        throw std::runtime_error(path + ": not a regular file");
    }
    const auto size = static_cast<std::size_t>(facts.st_size);
    if (error == 0 && size != 0) {
        void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
        error = at == MAP_FAILED ? errno : 0;
        if (error == 0) {
            ::madvise(at, size, MADV_SEQUENTIAL);
            bytes_ = {static_cast<const std::byte*>(at), size};
            mapped_ = true;
        }
    }
    ::close(file);
    if (error != 0)
        refuse(path, error);
}

FileMap::~FileMap() {
    if (mapped_)
        ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void FileMap::letGo(std::uint64_t offset, std::size_t count) const noexcept {
    if (!mapped_)
        return;
    // A page that is touched brings its neighbours with it, which may have been let go before.
    constexpr std::uint64_t around = 64 << 10;
    const std::uint64_t start = offset > around ? offset - around : 0;
    const std::uint64_t end = std::min<std::uint64_t>(offset + count + around, bytes_.size());
    ::madvise(const_cast<std::byte*>(bytes_.data()) + start, end - start, MADV_DONTNEED);
}

} // namespace heapwright::trace

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See plan_file.hpp.
#include "plan_file.hpp"

#include "fatal_error.hpp"
#include "memory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace heapwright::replayer {

namespace {

bool readAt(int file, void* into, std::size_t length, std::uint64_t offset) {
    return ::pread(file, into, length, static_cast<off_t>(offset)) == static_cast<ssize_t>(length);
}

bool isSound(const PlanHeader& header, std::uint64_t fileBytes) {
    return std::memcmp(header.magic, planMagic, sizeof planMagic) == 0 &&
           header.bytes == fileBytes && header.threads > 0 && header.directory <= fileBytes &&
           header.threads <= (fileBytes - header.directory) / sizeof(PlanThread);
}

/// All of its pages are there from the start, and none of them is the allocator's.
const char* mapWhole(int file, std::size_t length) {
    void* const pages = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (pages == MAP_FAILED) {
        fatalError(Status::noMemory, "the plan cannot be mapped: %s", strerrordesc_np(errno));
    }
    constexpr std::size_t page = 4096;
    const char* const bytes = static_cast<const char*>(pages);
    for (std::size_t at = 0; at < length; at += page) {
        static_cast<void>(*static_cast<const volatile char*>(bytes + at));
    }
    countAsOwn((length + page - 1) & ~(page - 1));
    return bytes;
}

} // namespace

Plan openPlan(const char* path, std::size_t resident) {
    Plan plan;
    plan.file = ::open(path, O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (plan.file < 0 || ::fstat(plan.file, &about) != 0) {
        fatalError(Status::usage, "%s cannot be opened: %s", path, strerrordesc_np(errno));
    }
    const auto bytes = static_cast<std::uint64_t>(about.st_size);
    if (!readAt(plan.file, &plan.header, sizeof plan.header, 0) || !isSound(plan.header, bytes)) {
        fatalError(Status::usage, "%s is no plan of this program, or not whole", path);
    }
    auto* const threads = mapArray<PlanThread>(plan.header.threads);
    if (!readAt(plan.file, threads, plan.header.threads * sizeof(PlanThread),
                plan.header.directory)) {
        fatalError(Status::usage, "%s cannot be read", path);
    }
    plan.threads = {threads, plan.header.threads};
    if (bytes <= resident) {
        plan.mapped = mapWhole(plan.file, bytes);
    }
    return plan;
}

} // namespace heapwright::replayer

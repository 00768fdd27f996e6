// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "categories.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>

namespace heapwright::look {

namespace {

/// A part of the address space whose kind is known.
struct Part {
    Address begin;
    Address end;
    Category category;
};

using Parts = std::vector<Part>;

Parts partsOf(const Glibc* glibc, const HeapAccount& heap, const std::vector<MappedChunk>& blocks,
              const std::vector<Stack>& stacks) {
    Parts parts;
    for (const Segment& each : heap.segments) {
        const bool isMain = each.arena == 0;
        const Address span = glibc == nullptr ? 0 : glibc->heapSpan();
        const Address begin = isMain ? pageDown(each.begin) : each.begin & ~(span - 1);
        parts.push_back({begin, isMain ? pageUp(each.end) : begin + span,
                         isMain ? Category::heap : Category::arenas});
    }
    for (const MappedChunk& each : blocks) {
        parts.push_back({each.at, each.at + each.size, Category::blocks});
    }
    for (const Stack& each : stacks) {
        parts.push_back({each.begin, each.end, Category::stacks});
    }
    std::sort(parts.begin(), parts.end(),
              [](const Part& one, const Part& other) { return one.begin < other.begin; });
    return parts;
}

bool isNamed(const Mapping& mapping, std::string_view begin) {
    return std::string_view(mapping.path).starts_with(begin);
}

class Sorter {
public:
    Sorter(const Image& image, const Parts& parts)
        : image_(image), parts_(parts), mappings_(image.mappings()) {
        for (const Mapping& mapping : mappings_) {
            if (mapping.executable && mapping.isFile()) {
                programs_.insert(mapping.path);
            }
        }
    }

    void add(std::size_t index, Categories& sums) const {
        const Mapping& mapping = mappings_[index];
        const Category whole = kindOf(index);
        if (whole != Category::anonymous && mapping.path != "[heap]") {
            add(sums, whole, mapping, mapping.size(), mapping.resident);
            return;
        }
        std::uint64_t restBytes = mapping.size();
        std::uint64_t restResident = mapping.resident;
        auto part =
            std::upper_bound(parts_.begin(), parts_.end(), mapping.begin,
                             [](Address wanted, const Part& each) { return wanted < each.end; });
        for (; part != parts_.end() && part->begin < mapping.end; ++part) {
            const Address begin = std::max(part->begin, mapping.begin);
            const Address end = std::min(part->end, mapping.end);
            if (begin == mapping.begin && end == mapping.end) {
                add(sums, part->category, mapping, mapping.size(), mapping.resident);
                return;
            }
            const std::uint64_t resident = std::min(restResident, image_.residentBytes(begin, end));
            Sum& sum = sums[static_cast<std::size_t>(part->category)];
            ++sum.mappings;
            sum.bytes += end - begin;
            sum.resident += resident;
            restBytes -= std::min(restBytes, end - begin);
            restResident -= resident;
        }
        if (restBytes != 0) {
            add(sums, mapping.path == "[heap]" ? Category::heap : whole, mapping, restBytes,
                restResident);
        }
    }

private:
    static void add(Categories& sums, Category category, const Mapping& mapping,
                    std::uint64_t bytes, std::uint64_t resident) {
        Sum& sum = sums[static_cast<std::size_t>(category)];
        ++sum.mappings;
        sum.bytes += bytes;
        sum.resident += resident;
        sum.swapped += mapping.swapped;
        sum.lazyFree += mapping.lazyFree;
    }

    Category kindOf(std::size_t index) const {
        const Mapping& mapping = mappings_[index];
        if (isNamed(mapping, "[stack")) {
            return Category::stacks;
        }
        if (isNamed(mapping, "[v")) { // vdso, vvar, vsyscall
            return Category::kernel;
        }
        if (mapping.isShared) {
            const bool isMemory = !mapping.isFile() || isNamed(mapping, "/dev/shm/") ||
                                  isNamed(mapping, "/memfd:") || isNamed(mapping, "/SYSV") ||
                                  isNamed(mapping, "/dev/zero");
            return isMemory ? Category::shared : Category::files;
        }
        if (mapping.isFile()) {
            return programs_.count(mapping.path) == 0 ? Category::files
                   : mapping.writable                 ? Category::data
                                                      : Category::code;
        }
        return isProgramData(mappings_, index) ? Category::data : Category::anonymous;
    }

    const Image& image_;
    const Parts& parts_;
    const std::vector<Mapping>& mappings_;
    std::unordered_set<std::string> programs_;
};

} // namespace

bool isProgramData(const std::vector<Mapping>& mappings, std::size_t index) {
    const Mapping& mapping = mappings[index];
    if (mapping.isFile()) {
        return mapping.isData();
    }
    return index > 0 && mapping.path.empty() && mapping.isData() && mappings[index - 1].isFile() &&
           mappings[index - 1].isData() && mappings[index - 1].end == mapping.begin;
}

Categories categoriesOf(const Image& image, const Glibc* glibc, const HeapAccount& heap,
                        const std::vector<MappedChunk>& blocks, const std::vector<Stack>& stacks) {
    Categories sums{};
    const Parts parts = partsOf(glibc, heap, blocks, stacks);
    const Sorter sorter(image, parts);
    for (std::size_t index = 0; index < image.mappings().size(); ++index) {
        sorter.add(index, sums);
    }
    return sums;
}

} // namespace heapwright::look

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "leaks.hpp"

#include "mappings.hpp"

#include "leakscan/search.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

namespace heapwright::look {

namespace {

constexpr std::size_t mostBlocks = 40'000'000;
constexpr std::size_t mostThreads = 4096;
constexpr Address redZone = 128; ///< below the stack pointer

/// What leakscan asks of memory, answered by an image through a cache.
class ImageMemory final : public leakscan::Memory {
public:
    ImageMemory(const Image& image, const Glibc& glibc, std::vector<Address> pointers)
        : image_(image), glibc_(glibc), pointers_(std::move(pointers)), lines_(lines) {
        std::sort(pointers_.begin(), pointers_.end());
    }

    std::vector<leakscan::Range> written() const override {
        std::vector<leakscan::Range> ranges;
        for (const Mapping& mapping : image_.mappings()) {
            if (!mapping.isData() && !mapping.isSealed()) {
                continue;
            }
            Address begin = mapping.begin;
            const auto pointer =
                std::lower_bound(pointers_.begin(), pointers_.end(), mapping.begin);
            if (pointer != pointers_.end() && *pointer < mapping.end) {
                begin = std::max(begin, (*pointer - redZone) & ~Address{7});
            }
            addPresent(begin, mapping.end, mapping.begin == glibc_.data.begin, ranges);
        }
        return ranges;
    }

    std::vector<leakscan::Range> readable() const override {
        std::vector<leakscan::Range> ranges;
        for (const Mapping& mapping : image_.mappings()) {
            if (mapping.isData() || mapping.isSealed()) {
                addPresent(mapping.begin, mapping.end, false, ranges);
            }
        }
        return ranges;
    }

    std::size_t read(Address at, std::uint64_t* words, std::size_t most) const override {
        const Address begin = at & ~(lineBytes - 1);
        Line& line = lines_[at / lineBytes % lines];
        if (line.begin != begin || !line.isFilled) {
            image_.read(begin, line.bytes.data(), lineBytes);
            line.begin = begin;
            line.isFilled = true;
        }
        const std::size_t bytes = std::min<std::size_t>(most * 8, begin + lineBytes - at) / 8 * 8;
        std::memcpy(words, line.bytes.data() + (at - begin), bytes);
        return bytes / 8;
    }

private:
    static constexpr Address lineBytes = 4 * pageBytes;
    static constexpr std::size_t lines = 1024;

    /// The parts that are not absent, which are zeros.
    void addPresent(Address begin, Address end, bool ofCLibrary,
                    std::vector<leakscan::Range>& to) const {
        constexpr std::size_t atOnce = 8192;
        std::array<Page, atOnce> states{};
        const std::size_t before = to.size();
        for (Address at = pageDown(begin); at < end;) {
            const std::size_t count = std::min<std::uint64_t>(atOnce, (end - at) / pageBytes);
            image_.pages(at, count, states.data());
            for (std::size_t page = 0; page < count; ++page, at += pageBytes) {
                const Address from = std::max(at, begin);
                if (states[page] == Page::absent) {
                    continue;
                }
                if (to.size() > before && to.back().end == from) {
                    to.back().end = at + pageBytes;
                } else {
                    to.push_back({from, at + pageBytes, ofCLibrary});
                }
            }
        }
    }

    struct Line {
        Address begin = 0;
        bool isFilled = false;
        std::array<char, lineBytes> bytes{};
    };

    const Image& image_;
    const Glibc& glibc_;
    std::vector<Address> pointers_; ///< ascending
    mutable std::vector<Line> lines_;
};

leakscan::Block blockOf(Address object, std::uint64_t usable) {
    leakscan::Block block{};
    block.begin = object;
    block.size = usable;
    block.usable = usable;
    return block;
}

/// What the program has in the first page of the heap before the first block. The search takes
/// pages of the heap for blocks only. A static program has its first thread's data there.
void addWords(const Image& image, Address begin, Address end, std::vector<std::uint64_t>& to) {
    for (Address at = begin; at + sizeof(std::uint64_t) <= end; at += sizeof(std::uint64_t)) {
        to.push_back(image.word(at));
    }
}

} // namespace

std::vector<Address> stackPointers(pid_t pid) {
    std::vector<Address> found;
    std::error_code none;
    const std::string folder = "/proc/" + std::to_string(pid) + "/task";
    std::size_t threads = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
        if (++threads > mostThreads) {
            return {};
        }
        std::string text;
        try {
            text = contentOf(entry.path().string() + "/syscall");
        } catch (const std::system_error&) {
            continue;
        }
        // "0 0x3 … 0xSP 0xPC", "-1 0xSP 0xPC", or "running".
        std::istringstream stream(text);
        std::vector<std::string> words;
        for (std::string word; stream >> word;) {
            words.push_back(word);
        }
        if (words.size() >= 3) {
            found.push_back(std::strtoull(words[words.size() - 2].c_str(), nullptr, 16));
        }
    }
    return found;
}

Leaks findLeaks(const Image& image, const Glibc& glibc, const HeapAccount& account,
                const std::vector<MappedChunk>& mapped, const Roots& roots) {
    Leaks leaks;
    const auto [chunks, hasMore] = liveChunks(image, account, mostBlocks);
    if (hasMore) {
        leaks.isComplete = false;
        return leaks;
    }
    std::vector<leakscan::Block> blocks;
    blocks.reserve(chunks.size() + mapped.size());
    leakscan::PageSet pages;
    std::vector<std::uint64_t> words = roots.registers;
    for (const Segment& segment : account.segments) {
        pages.set(segment.begin, segment.end - segment.begin, true);
        if (segment.arena == 0) {
            addWords(image, pageDown(segment.begin), segment.begin, words);
        }
    }
    for (const Chunk& chunk : chunks) {
        blocks.push_back(blockOf(chunk.at + chunkHeader, chunk.size - 8));
    }
    for (const MappedChunk& chunk : mapped) {
        blocks.push_back(blockOf(chunk.object(), chunk.usable()));
        pages.set(chunk.at, chunk.size, true);
    }
    std::sort(blocks.begin(), blocks.end(),
              [](const auto& one, const auto& other) { return one.begin < other.begin; });
    leakscan::LiveBlocks live(std::move(blocks), std::move(pages));
    leakscan::search(ImageMemory(image, glibc, roots.stackPointers), words, live);
    for (const leakscan::Block& block : live.blocks()) {
        ++leaks.blocks;
        leaks.bytes += block.usable;
        if (!block.reached) {
            leaks.lost.push_back({block.begin, block.usable, image.word(block.begin)});
        }
    }
    return leaks;
}

void keepCommon(Leaks& leaks, const Leaks& other) {
    const auto isElsewhere = [&other](const LostBlock& block) {
        const auto at = std::lower_bound(
            other.lost.begin(), other.lost.end(), block.at,
            [](const LostBlock& each, Address wanted) { return each.at < wanted; });
        return at != other.lost.end() && at->at == block.at && at->bytes == block.bytes;
    };
    leaks.isComplete &= other.isComplete;
    leaks.lost.erase(std::remove_if(leaks.lost.begin(), leaks.lost.end(),
                                    [&](const LostBlock& each) { return !isElsewhere(each); }),
                     leaks.lost.end());
}

} // namespace heapwright::look

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "stacks.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace heapwright::look {

namespace {

constexpr Address selfAt = 16;      ///< in struct pthread: header.self
constexpr Address threadAt = 0x2d0; ///< in struct pthread: tid
constexpr Address threadBytes = 0x900;
constexpr Address mostStack = 64 << 20;
constexpr Address pageWords = pageBytes / 8;

/// The description of a thread that is in this page.
std::optional<Address> describedIn(const Image& image, Address page) {
    std::uint64_t words[pageWords];
    image.readValue(page, words);
    for (Address word = 0; word + selfAt / 8 < pageWords; ++word) {
        const Address at = page + word * 8;
        if (at % 64 == 0 && words[word] == at && words[word + selfAt / 8] == at) {
            return at;
        }
    }
    return std::nullopt;
}

/// The description at the end of a mapping, or of its lower part if other memory follows the stack.
std::optional<Address> describedIn(const Image& image, const Mapping& mapping) {
    if (const auto last = describedIn(image, mapping.end - pageBytes)) {
        return last;
    }
    const Address end = std::min(mapping.end, mapping.begin + mostStack);
    std::vector<Page> states((end - mapping.begin) / pageBytes);
    image.pages(mapping.begin, states.size(), states.data());
    for (std::size_t page = 0; page < states.size(); ++page) {
        const auto found = states[page] != Page::absent
                               ? describedIn(image, mapping.begin + page * pageBytes)
                               : std::nullopt;
        if (found) {
            return found;
        }
    }
    return std::nullopt;
}

} // namespace

std::vector<Stack> threadStacks(const Image& image) {
    std::vector<Stack> found;
    const Mapping* before = nullptr;
    for (const Mapping& mapping : image.mappings()) {
        const bool isGuarded = before != nullptr && before->end == mapping.begin &&
                               !before->readable && !before->writable && before->path.empty();
        if (isGuarded && mapping.isData() && mapping.path.empty()) {
            if (const auto at = describedIn(image, mapping)) {
                std::uint32_t thread = 0;
                image.readValue(*at + threadAt, thread);
                const Address end = std::min(mapping.end, pageUp(*at + threadBytes));
                found.push_back({mapping.begin, end, static_cast<std::int32_t>(thread) <= 0});
            }
        }
        before = &mapping;
    }
    return found;
}

} // namespace heapwright::look

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The labels that threads set by heapwright/c/label.h. A label gets a number at its first use and
// keeps it. Beyond the last number all further labels share one.
#include "sampling.hpp"

#include <heapwright/platform/errno_keeper.hpp>

#include <cstring>

namespace heapwright::sampler {

namespace {

constexpr std::uint32_t most = 256; ///< with 0, which means no label
constexpr std::size_t longest = 64;
constexpr char others[] = "(further labels)";

constinit char texts[most][longest] = {};
constinit std::atomic<std::uint32_t> known{1};

/// A label as the document has it: cut, and without control characters.
void clean(const char* name, char* text) noexcept {
    std::size_t length = 0;
    for (; length < longest - 1 && name[length] != 0; ++length) {
        const auto byte = static_cast<unsigned char>(name[length]);
        text[length] = byte < ' ' || byte == 0x7F ? '?' : name[length];
    }
    text[length] = 0;
}

std::uint32_t findLabel(const char* text, std::uint32_t count) noexcept {
    for (std::uint32_t number = 1; number < count; ++number) {
        if (std::strcmp(texts[number], text) == 0) {
            return number;
        }
    }
    return 0;
}

std::uint32_t numberOf(const char* name) noexcept {
    char text[longest];
    clean(name, text);
    if (text[0] == 0) {
        return 0;
    }
    if (const std::uint32_t found = findLabel(text, known.load(std::memory_order_acquire))) {
        return found;
    }
    const heapwright::platform::ErrnoKeeper keeper;
    const platform::BlockedSignals blocked;
    noticeFork();
    const ProcessLock held;
    const std::uint32_t count = known.load(std::memory_order_relaxed);
    std::uint32_t number = findLabel(text, count);
    if (number == 0) {
        number = count < most ? count : most - 1;
        if (count < most) {
            std::memcpy(texts[number], number == most - 1 ? others : text,
                        number == most - 1 ? sizeof others : longest);
            known.store(count + 1, std::memory_order_release);
        }
    }
    return number;
}

} // namespace

const char* labelText(std::uint32_t label) noexcept {
    return texts[label];
}

std::uint32_t labelCount() noexcept {
    return known.load(std::memory_order_acquire);
}

} // namespace heapwright::sampler

using namespace heapwright::sampler;

#pragma GCC visibility push(default)
extern "C" const char* heapwright_sampler_label(const char* name) {
    Thread& self = thisThread;
    const std::uint32_t before = self.label;
    self.label = name != nullptr ? numberOf(name) : 0;
    return before != 0 ? labelText(before) : nullptr;
}
#pragma GCC visibility pop

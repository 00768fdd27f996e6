// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of call sites. A call site is a return address of malloc and a size of blocks. A list
// states the return address in the file of a module. `resolve` enters those of the modules that are
// loaded at that moment. The build-id of a module must be that of the list, so another build of the
// module enters nothing.
//
// A key is one word: the return address, with the block in its high bits. Two call sites may have
// equal keys. A user of the table must therefore stay correct after a wrong answer. Any thread may
// ask at any time, because each place is one atomic word.
// Cost: a multiplication, a load and a compare for a call site that is not in the table.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/code_modules.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace heapwright {

/// A file with code.
struct CodeModule {
    std::string_view name;    ///< for readers of the list
    std::string_view buildId; ///< in hexadecimal, not empty
};

/// A call of malloc.
struct CallSite {
    std::size_t module;    ///< place in the list of modules
    std::uint64_t address; ///< to which the call returns, in the file of the module
    std::size_t block;     ///< `callSiteBlock` of the requested sizes, in bytes
};

/// The sizes that are one call site: those of one block with a tag.
[[nodiscard]] constexpr std::size_t callSiteBlock(std::size_t size) noexcept {
    return roundUp(size + Tag::bytes, minAlignment);
}

/// A list of call sites, in arrays.
template <class S>
concept CallSiteList = requires {
    { S::modules } -> std::convertible_to<std::span<const CodeModule>>;
    { S::sites } -> std::convertible_to<std::span<const CallSite>>;
    { S::sites.size() } -> std::convertible_to<std::size_t>;
};

/// A policy that knows some call sites. `has` gets the return address of a request and its size.
template <class P>
concept CallSitePolicy = requires(P policy, const void* caller, std::size_t size) {
    { policy.has(caller, size) } noexcept -> std::same_as<bool>;
    { policy.resolve() } noexcept -> std::same_as<void>;
};

/// The list without call sites.
struct NoCallSites {
    static constexpr std::array<CodeModule, 0> modules{};
    static constexpr std::array<CallSite, 0> sites{};
};

template <CallSiteList List>
class CallSiteTable {
    static constexpr std::size_t count = List::sites.size();
    /// At most a quarter of the places is in use, so most searches end at the first place.
    static constexpr std::size_t places = std::bit_ceil(4 * count + 2);

public:
    [[nodiscard, gnu::always_inline]] bool has(const void* caller,
                                               std::size_t size) const noexcept {
        if constexpr (count == 0) {
            return false;
        } else {
            const std::uint64_t key = keyOf(addressOf(caller), callSiteBlock(size));
            for (std::size_t place = firstOf(key);; place = nextOf(place)) {
                const std::uint64_t found = places_[place].load(std::memory_order_relaxed);
                if (found == none) [[likely]] {
                    return false;
                }
                if (found == key) {
                    return true;
                }
            }
        }
    }

    /// Enters the call sites of the modules that are loaded now.
    void resolve() noexcept {
        platform::forEachModule([this](const platform::LoadedModule& loaded) {
            for (const CallSite& site : List::sites) {
                if (isText(loaded.buildId, List::modules[site.module].buildId)) {
                    enter(keyOf(loaded.bias + site.address, site.block));
                }
            }
        });
    }

private:
    static constexpr std::uint64_t none = 0;

    [[nodiscard]] static constexpr std::uint64_t keyOf(Address address,
                                                       std::size_t block) noexcept {
        return std::uint64_t{address} ^ std::uint64_t{block} << 44U;
    }

    [[nodiscard]] static constexpr std::size_t firstOf(std::uint64_t key) noexcept {
        constexpr unsigned shift = 64U - static_cast<unsigned>(std::countr_zero(places));
        return key * 0x9E37'79B9'7F4A'7C15U >> shift;
    }
    [[nodiscard]] static constexpr std::size_t nextOf(std::size_t place) noexcept {
        return (place + 1) % places;
    }

    void enter(std::uint64_t key) noexcept {
        std::size_t place = firstOf(key);
        std::uint64_t found = places_[place].load(std::memory_order_relaxed);
        while (found != none && found != key) {
            place = nextOf(place);
            found = places_[place].load(std::memory_order_relaxed);
        }
        places_[place].store(key, std::memory_order_relaxed);
    }

    /// Whether the text is these bytes in hexadecimal.
    [[nodiscard]] static bool isText(std::span<const std::uint8_t> bytes,
                                     std::string_view text) noexcept {
        constexpr std::string_view digits = "0123456789abcdef";
        if (bytes.empty() || text.size() != 2 * bytes.size()) {
            return false;
        }
        for (std::size_t at = 0; at < bytes.size(); ++at) {
            if (text[2 * at] != digits[bytes[at] >> 4U] ||
                text[2 * at + 1] != digits[bytes[at] & 15U]) {
                return false;
            }
        }
        return true;
    }

    std::array<std::atomic<std::uint64_t>, places> places_{};
};

static_assert(CallSitePolicy<CallSiteTable<NoCallSites>>);

} // namespace heapwright

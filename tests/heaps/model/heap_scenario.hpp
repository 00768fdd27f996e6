// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The common parts of scenarios of heaps. They are memory that is the same in every run, and a
// record of the program's objects. The record fails the run when two objects overlap or one changes
// by itself.
#pragma once

#include "explorer.hpp"

#include <heapwright/core/address.hpp>
#include <heapwright/core/describe.hpp>

#include <cstddef>
#include <cstring>
#include <map>
#include <string_view>

namespace heapwright::testing::model {

/// Memory from one buffer, from its start in each run; it counts what is live.
class BufferHeap {
public:
    static constexpr std::size_t alignment = minAlignment;
    [[maybe_unused]] static constexpr std::string_view caption = "a buffer for one run";
    using Below = Heaps<>;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return memalign(minAlignment, size); }
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        const std::size_t start = roundUp(used_, align);
        if (start + size > bytes) {
            return nullptr;
        }
        used_ = start + size;
        ++live_;
        return buffer_ + start;
    }
    void free(void* /*object*/) noexcept { --live_; }

    static void begin() noexcept {
        used_ = 0;
        live_ = 0;
    }
    [[nodiscard]] static std::size_t live() noexcept { return live_; }

private:
    static constexpr std::size_t bytes = 4 * MiB;
    alignas(1 * MiB) static inline std::byte buffer_[bytes];
    static inline std::size_t used_ = 0;
    static inline std::size_t live_ = 0;
};

/// The objects in the program's hands. The allocation and the free of one are steps that the
/// scheduler sees. So is everything that a scenario wants to have tried in every order.
class Hands {
public:
    /// The program was given an object, or null, which is no failure; gives it on.
    void* taken(void* object, std::size_t size) {
        if (object == nullptr) {
            return nullptr;
        }
        const Address start = addressOf(object);
        note(Event::written, object); // no other thread may have it
        const auto after = objects_.lower_bound(start);
        require(after == objects_.end() || start + size <= after->first, "two objects overlap");
        require(after == objects_.begin() ||
                    std::prev(after)->first + std::prev(after)->second <= start,
                "two objects overlap");
        objects_.emplace(start, size);
        std::memset(object, fillOf(object), size);
        return object;
    }

    /// The program is about to free one.
    void* given(void* object) {
        note(Event::written, object);
        const auto entry = objects_.find(addressOf(object));
        require(entry != objects_.end(), "the scenario frees what it has not got");
        const auto* const bytes = static_cast<const unsigned char*>(object);
        for (std::size_t at = 0; at < entry->second; ++at) {
            require(bytes[at] == fillOf(object), "an object was written to by somebody else");
        }
        objects_.erase(entry);
        return object;
    }

    [[nodiscard]] std::size_t count() const { return objects_.size(); }

private:
    static unsigned char fillOf(const void* object) {
        return static_cast<unsigned char>(addressOf(object) / minAlignment + 1);
    }

    std::map<Address, std::size_t> objects_;
};

/// A heap that is made anew in each run, with the objects that its scenario holds.
template <class H>
class HeapScenario : public Scenario {
protected:
    [[nodiscard]] void* take(std::size_t size) { return hands_.taken(heap_->malloc(size), size); }
    void give(void* object) {
        if (object != nullptr) {
            heap_->free(hands_.given(object));
        }
    }
    /// The object is no longer the program's, but not freed yet.
    [[nodiscard]] void* letGo(void* object) { return hands_.given(object); }
    void takeAndGive(std::size_t size) { give(take(size)); }

    [[nodiscard]] H& heap() { return *heap_; }
    [[nodiscard]] const Hands& hands() const { return hands_; }

    /// The heap's end, and whether it returned all it had.
    void endHeap() {
        heap_.reset();
        require(BufferHeap::live() == 0, "memory was lost");
    }

private:
    struct Begin {
        Begin() { BufferHeap::begin(); }
    };
    Begin begin_;
    std::unique_ptr<H> heap_ = std::make_unique<H>();
    Hands hands_;
};

} // namespace heapwright::testing::model

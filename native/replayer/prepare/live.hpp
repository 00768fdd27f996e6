// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The objects that are live at one moment of a trace, by address. The table uses open addressing
// with linear probing. An ended object is removed, so the size is that of the most objects live at
// once.
#pragma once

#include "replayer/plan.hpp"
#include "trace/event.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwright::replayer {

struct Object {
    std::uint64_t address = 0;   ///< 0 marks an empty place
    std::uint64_t size = 0;      ///< as requested
    std::uint64_t number = 0;    ///< of the allocation, counted over the trace
    std::uint64_t alignment = 0; ///< as requested
    std::uint32_t thread = 0;    ///< index of the thread that allocated it
    trace::Routine routine{};
    bool shared = false; ///< of its hold
    std::uint16_t generation = 0;
    std::uint32_t slot = 0;
};

class LiveObjects {
public:
    LiveObjects() : places_(smallest) {}

    std::size_t count() const { return count_; }

    Object* find(std::uint64_t address) {
        for (std::size_t at = home(address);; at = (at + 1) & mask()) {
            if (places_[at].address == address) {
                return &places_[at];
            }
            if (places_[at].address == 0) {
                return nullptr;
            }
        }
    }

    /// The object that stood at the address, and no longer does; its address is 0 if there is none.
    Object take(std::uint64_t address) {
        Object* const found = find(address);
        if (found == nullptr) {
            return {};
        }
        const Object taken = *found;
        close(static_cast<std::size_t>(found - places_.data()));
        --count_;
        return taken;
    }

    /// No object may stand there.
    void put(const Object& object) {
        if (2 * (count_ + 1) > places_.size()) {
            grow();
        }
        place(object);
        ++count_;
    }

    template <class Visitor>
    void each(Visitor visit) const {
        for (const Object& object : places_) {
            if (object.address != 0) {
                visit(object);
            }
        }
    }

private:
    static constexpr std::size_t smallest = 1024;

    std::size_t mask() const { return places_.size() - 1; }
    std::size_t home(std::uint64_t address) const {
        return (address * 0x9e37'79b9'7f4a'7c15U >> 20U) & mask();
    }

    void place(const Object& object) {
        std::size_t at = home(object.address);
        while (places_[at].address != 0) {
            at = (at + 1) & mask();
        }
        places_[at] = object;
    }

    /// Moves up what stood further on only because the place was taken.
    void close(std::size_t hole) {
        for (std::size_t at = (hole + 1) & mask(); places_[at].address != 0;
             at = (at + 1) & mask()) {
            const std::size_t wanted = home(places_[at].address);
            if (((at - wanted) & mask()) >= ((at - hole) & mask())) {
                places_[hole] = places_[at];
                hole = at;
            }
        }
        places_[hole].address = 0;
    }

    void grow() {
        std::vector<Object> old(2 * places_.size());
        old.swap(places_);
        for (const Object& object : old) {
            if (object.address != 0) {
                place(object);
            }
        }
    }

    std::vector<Object> places_;
    std::size_t count_ = 0;
};

} // namespace heapwright::replayer

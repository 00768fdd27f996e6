// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the sources have in common that take their memory in a room (structure/room/room.hpp). Built
// within a room, a source serves from that one. Otherwise it opens one for itself when it is first
// asked, and lets it go when it is destroyed.
//
// The source itself holds no more than where its room is: how far memory has been given out stands
// in the room. `Heap` is the layer, `Memory` the kind of memory, structure/room/room_memory.hpp.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/structure/area/bump.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/structure/room/room.hpp>

#include <cstddef>
#include <type_traits>

namespace heapwright {

template <class Heap, class Memory>
class RoomSource {
public:
    constexpr RoomSource() noexcept
        : room_(std::is_constant_evaluated() ? nullptr : RoomBeingBuilt::mine()) {}
    RoomSource(const RoomSource&) = delete;
    RoomSource& operator=(const RoomSource&) = delete;
    ~RoomSource() {
        if (own_.room != nullptr) {
            Memory::close(own_);
        }
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        Room* const room = opened();
        return room == nullptr ? nullptr : room->bump.malloc(room->memory(), size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        Room* const room = opened();
        return room == nullptr ? nullptr : room->bump.zalloc(room->memory(), size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        Room* const room = opened();
        return room == nullptr ? nullptr : room->bump.memalign(room->memory(), align, size);
    }

    void free(void* object) noexcept { room_->bump.free(room_->memory(), object); }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        return room_->bump.resize(room_->memory(), object, size);
    }

    [[nodiscard]] bool owns(const void* object) const noexcept {
        return room_ != nullptr && room_->bump.owns(room_->memory(), object);
    }

    /// Takes back every object, but not the heap that lives in the room.
    void clear() noexcept {
        if (room_ != nullptr) {
            room_->bump.clear();
        }
    }

    void measure(Footprint& footprint) const noexcept {
        if (room_ != nullptr) {
            const std::size_t bytes = room_->memory().bytes;
            const std::size_t used = room_->bump.used();
            footprint.mapped += room_->label.bytes;
            footprint.held += bytes - used;
            footprint.heldCount += used < bytes ? 1U : 0U;
        }
    }

private:
    Room* opened() noexcept {
        if (room_ == nullptr) [[unlikely]] {
            openOwn();
        }
        return room_;
    }

    /// Null again if it cannot be opened; the next request tries again.
    [[gnu::cold, gnu::noinline]] void openOwn() noexcept {
        own_ = Memory::open({kindOfHeap<Heap>(), false, false});
        room_ = own_.room;
        if (own_.opening == Opening::made) {
            Memory::finish(own_);
        }
    }

    Room* room_;   ///< null until there is one
    OpenRoom own_; ///< the one that was opened here, if it was
};

} // namespace heapwright

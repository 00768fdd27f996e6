// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A list of all objects at one moment. They are counted and recorded, in pages of the list, while
// the allocator is held quiescent. A function that visits them afterwards may use the allocator.
//
// Cost: 24 bytes for each object, and two visits of all superblocks, during which no thread can
// leave its cache.
#pragma once

#include <cstddef>
#include <new>

#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/pages.hpp>

#include <preload/granary/locked_heap_guard.hpp>
#include <preload/instance.hpp>

namespace heapwright::preload {

template <WalkableHeap Allocator>
class ObjectList {
public:
    /// Lists the objects of the process's allocator.
    [[gnu::cold]] ObjectList() noexcept {
        const LockedHeapGuard<Allocator> still(instance<Allocator>());
        std::size_t count = 0;
        const auto counting = [&count](const LiveObject&) { ++count; };
        instance<Allocator>().walk(ObjectVisitor(counting));
        if (!reserve(count)) {
            return;
        }
        const auto writing = [this](const LiveObject& object) {
            if (count_ < room_) {
                ::new (&objects_[count_++]) Record(object);
            }
        };
        instance<Allocator>().walk(ObjectVisitor(writing));
    }
    ObjectList(const ObjectList&) = delete;
    ObjectList& operator=(const ObjectList&) = delete;
    ~ObjectList() {
        if (objects_ != nullptr) {
            platform::unmapPages(objects_, bytes_);
        }
    }

    /// Whether there was memory for the list.
    [[nodiscard]] bool complete() const noexcept { return complete_; }

    /// Runs `visit` on each object until it returns a result other than 0, and returns that result.
    template <class Visit>
    [[nodiscard]] int forEach(Visit visit) const {
        int answer = 0;
        for (std::size_t at = 0; at < count_ && answer == 0; ++at) {
            answer = visit(objects_[at].object());
        }
        return answer;
    }

private:
    /// A `LiveObject` in a compact form.
    class Record {
    public:
        explicit Record(const LiveObject& object) noexcept
            : address_(object.address), size_(object.size),
              sizeClass_(object.sizeClass == LiveObject::noClass
                             ? -1
                             : static_cast<int>(object.sizeClass)),
              cached_(object.cached) {}
        [[nodiscard]] LiveObject object() const noexcept {
            const bool hasClass = sizeClass_ >= 0;
            return {address_, size_,
                    hasClass ? static_cast<std::size_t>(sizeClass_) : LiveObject::noClass, cached_};
        }

    private:
        void* address_;
        std::size_t size_;
        int sizeClass_;
        bool cached_;
    };

    [[nodiscard]] bool reserve(std::size_t count) noexcept {
        room_ = count;
        bytes_ = roundUp(count * sizeof(Record), platform::pageSize());
        objects_ = count == 0 ? nullptr : static_cast<Record*>(platform::mapPages(bytes_));
        complete_ = count == 0 || objects_ != nullptr;
        return complete_ && count != 0;
    }

    Record* objects_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t room_ = 0;
    std::size_t count_ = 0;
    bool complete_ = false;
};

} // namespace heapwright::preload

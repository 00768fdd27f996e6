// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Gives each object pages of its own between inaccessible pages. The object ends at the later one.
// An access behind the object, before its first page, or after its free ends the program at the
// instruction that did it.
//
//   | closed | pattern ... object ... pattern | closed |
//
// An object starts on a multiple of 16, so up to 15 bytes behind it are accessible (more for a
// larger alignment). These bytes, and those before the object in its first page, hold a pattern. A
// changed pattern aborts the program when the object is freed. The pages of a freed object are
// closed. Its addresses are not reused until `Quarantine` bytes of addresses were freed after it.
// The record of each object lies apart, so that no overflow can change it, and every pointer
// argument is looked up. The messages, after `heapwright: `:
//
//   free(): overflow, free(): underflow            the pattern behind or before it has changed
//   free(): double free                            it is still in quarantine
//   free(): invalid pointer                        it is no object, or lies inside one
//   realloc(), malloc_usable_size(): use of a freed object, invalid pointer
//
// An access to a closed page ends the program by SIGSEGV. There is no tag, so `CheckedHeap` cannot
// be used over it and is not needed. Under `SignalSafeHeap`, a free in a handler writes a link into
// the first 8 bytes of the object. A smaller object whose pattern changed to a possible link is
// therefore accepted.
//
// Cost: two system calls to allocate an object and two to free it. An object takes at least one
// page of memory, three of addresses, and two of the 65,530 mappings that Linux allows. With about
// 32,000 live objects, malloc therefore returns null.
// Source: Electric Fence (Perens, 1987).
//
// Example: GuardPageHeap<64 * MiB>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/guard_pages.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/map/address_map.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace heapwright {

template <std::size_t Quarantine>
class GuardPageHeap {
    /// The record of an object. It is stored under the range of all its addresses.
    struct Object {
        Address start = 0;
        std::size_t size = 0;
        Address nextFreed = 0; ///< the range of the object that was freed next, while in quarantine
        bool live = false;

        [[nodiscard]] Address end() const noexcept { return start + size; }
        [[nodiscard]] Address firstPage() const noexcept {
            return roundDown(start, platform::pageSize());
        }
        [[nodiscard]] Address lastPageEnd() const noexcept {
            return roundUp(end() + (size == 0 ? 1 : 0), platform::pageSize());
        }
        [[nodiscard]] std::size_t pages() const noexcept { return lastPageEnd() - firstPage(); }
    };
    using Map = AddressMap<Object>;
    using Entry = typename Map::Entry;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr std::string_view caption =
        "ends each object at a page that may not be touched";
    using Below = Heaps<>;

    constexpr GuardPageHeap() noexcept = default;
    GuardPageHeap(const GuardPageHeap&) = delete;
    GuardPageHeap& operator=(const GuardPageHeap&) = delete;
    ~GuardPageHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return memalign(minAlignment, size); }

    /// The pages of an object are always new, so they are zero.
    [[nodiscard]] void* zalloc(std::size_t size) noexcept { return malloc(size); }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        align = std::max(align, minAlignment);
        const std::size_t range = rangeFor(align, size);
        if (range == 0) {
            return nullptr;
        }
        Entry* const entry = objects_.reserve();
        if (entry == nullptr) {
            return nullptr;
        }
        void* const pages = platform::reserveClosedPages(range);
        if (pages != nullptr) {
            const Object object = layOut(addressOf(pages), range, align, size);
            if (platform::openPages(pointerTo(object.firstPage()), object.pages())) {
                objects_.insert(entry, addressOf(pages), range);
                entry->value = object;
                open_ += object.pages();
                fillAround(object);
                return pointerTo(object.start);
            }
            platform::unmapPages(pages, range);
        }
        objects_.release(entry);
        return nullptr;
    }

    void free(void* object) noexcept {
        Entry& entry = checked(object, "free");
        checkAround(entry.value);
        open_ -= entry.value.pages();
        entry.value.live = false;
        if (!platform::closePages(pointerTo(entry.value.firstPage()), entry.value.pages())) {
            forget(&entry);
            return;
        }
        (lastFreed_ != 0 ? objects_.find(lastFreed_)->value.nextFreed : firstFreed_) = entry.start;
        lastFreed_ = entry.start;
        quarantined_ += entry.size;
        while (quarantined_ > Quarantine) {
            releaseOldest();
        }
    }

    /// Exactly the requested size.
    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return checked(object, "malloc_usable_size").value.size;
    }

    /// Any other size needs a new object, so that the object ends at the closed page.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        return checked(object, "realloc").value.size == size;
    }

    [[nodiscard]] bool owns(const void* object) const noexcept {
        const Entry* const entry = objects_.overlapping(addressOf(object), 1);
        return entry != nullptr && entry->value.live &&
               addressOf(object) - entry->value.start < std::max<std::size_t>(entry->value.size, 1);
    }

    /// Also frees the objects in quarantine.
    void clear() noexcept {
        while (Entry* const entry = objects_.atOrAfter(0)) {
            forget(entry);
        }
        objects_.clear();
        open_ = quarantined_ = 0;
        firstFreed_ = lastFreed_ = 0;
    }

    /// Counts the pages of live objects. Closed pages are addresses only.
    void measure(MemoryUsage& usage) const noexcept { usage.mapped += open_; }

private:
    static constexpr unsigned char pattern = 0xD3;

    /// The size of an object's address range with the closed pages around it; 0 on overflow.
    static std::size_t rangeFor(std::size_t align, std::size_t size) noexcept {
        const std::size_t page = platform::pageSize();
        const std::size_t extra = 3 * page + (align > page ? align : 0);
        std::size_t range = 0;
        return __builtin_add_overflow(size, extra, &range) ? 0 : roundDown(range, page);
    }

    /// Places the object at the end of the range. With an alignment above a page, at the first
    /// multiple of it.
    static Object layOut(Address range, std::size_t bytes, std::size_t align,
                         std::size_t size) noexcept {
        const std::size_t page = platform::pageSize();
        const Address start = align > page ? roundUp(range + page, align)
                                           : roundDown(range + bytes - page - size, align);
        return {start, size, 0, true};
    }

    static void fillAround(const Object& object) noexcept {
        std::memset(pointerTo(object.firstPage()), pattern, object.start - object.firstPage());
        std::memset(pointerTo(object.end()), pattern, object.lastPageEnd() - object.end());
    }

    static bool untouched(Address from, Address to) noexcept {
        const auto* const bytes = static_cast<const unsigned char*>(pointerTo(from));
        return std::all_of(bytes, bytes + (to - from), [](auto byte) { return byte == pattern; });
    }

    void checkAround(const Object& object) const noexcept {
        if (!untouched(object.firstPage(), object.start)) [[unlikely]] {
            platform::abortWithMessage("free", "underflow");
        }
        if (!untouched(object.end(), object.lastPageEnd()) && !holdsLink(object)) [[unlikely]] {
            platform::abortWithMessage("free", "overflow");
        }
    }

    /// Whether an object smaller than a link may have received one in a list of freed objects.
    [[nodiscard]] bool holdsLink(const Object& object) const noexcept {
        Address link = 0;
        if (object.size >= sizeof link ||
            !untouched(object.start + sizeof link, object.lastPageEnd())) {
            return false;
        }
        std::memcpy(&link, pointerTo(object.start), sizeof link);
        return link == 0 || owns(pointerTo(link));
    }

    Entry& checked(void* object, std::string_view routine) const noexcept {
        Entry* const entry = objects_.overlapping(addressOf(object), 1);
        if (entry == nullptr || entry->value.start != addressOf(object)) [[unlikely]] {
            platform::abortWithMessage(routine, "invalid pointer");
        }
        if (!entry->value.live) [[unlikely]] {
            platform::abortWithMessage(routine,
                                       routine == "free" ? "double free" : "use of a freed object");
        }
        return *entry;
    }

    /// Releases the oldest range in quarantine for reuse.
    void releaseOldest() noexcept {
        Entry* const entry = objects_.find(firstFreed_);
        quarantined_ -= entry->size;
        firstFreed_ = entry->value.nextFreed;
        lastFreed_ = firstFreed_ == 0 ? 0 : lastFreed_;
        forget(entry);
    }

    void forget(Entry* entry) noexcept {
        platform::unmapPages(pointerTo(entry->start), entry->size);
        objects_.remove(entry);
        objects_.release(entry);
    }

    Map objects_;                 ///< live or in quarantine, by their range of addresses
    std::size_t open_ = 0;        ///< bytes of the pages of live objects
    std::size_t quarantined_ = 0; ///< bytes of address ranges in quarantine, oldest first:
    Address firstFreed_ = 0;
    Address lastFreed_ = 0;
};

static_assert(SizedHeap<GuardPageHeap<0>> && AlignedHeap<GuardPageHeap<0>>);
static_assert(OwningHeap<GuardPageHeap<0>> && ClearableHeap<GuardPageHeap<0>>);

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What stands where in a superblock (structure/superblock/superblock.hpp): its header, the 16 bits
// of each slot, the slots; in which slot an address lies; and whether it is that of a live object.
// What happens to the slots is said there.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/superblock/superblock_layout.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

template <class Block>
class SuperblockSlots {
public:
    using Layout = SuperblockLayout;

    /// Aborts unless the object is live. Its owner may ask without a lock.
    void check(const void* object, std::string_view routine) const noexcept {
        const std::uint32_t slot = indexOf(object);
        if (!isUsualAt(slot, object)) [[unlikely]] {
            checkUnusual(object, routine);
        }
    }

    /// The same, and its size class; a number that is none if it stands inside its slot.
    [[nodiscard, gnu::always_inline]] std::size_t
    classOfLive(const void* object, std::string_view routine) const noexcept {
        const std::uint32_t slot = indexOf(object);
        if (!isUsualAt(slot, object)) [[unlikely]] {
            checkUnusual(object, routine);
            return SIZE_MAX;
        }
        return class_;
    }

    /// How many bytes there are from an object's start to the end of its slot. No lock is needed.
    [[nodiscard]] std::size_t capacityAt(const void* object) const noexcept {
        return layout_.slot - (offsetOf(object, layout_) - indexOf(object) * layout_.slot);
    }

    [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
    [[nodiscard]] std::size_t sizeClass() const noexcept { return class_; }
    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t count() const noexcept { return layout_.count; }
    /// In which of so many equal parts of the superblock its last used slot would be, if they were
    /// all in a row. Pre: not all are used.
    [[nodiscard]] std::uint32_t partUsed(std::uint32_t parts) const noexcept {
        return std::uint32_t{used_} * parts / layout_.count;
    }

protected:
    OwnerTagWord home_{cachingSuspended}; // the first word

public:
    SharedWord<void*> owner;   ///< null: nobody's
    Block* next = nullptr;     ///< in its group
    Block* previous = nullptr; ///< in its group
    std::uint16_t group = 0;   ///< where its owner keeps it,
    std::uint16_t low = 0;     ///< with as many used as this
    std::uint16_t high = 0;    ///< up to less than this

protected:
    static constexpr std::size_t cacheLine = SuperblockLayout::cacheLine;

    using Link = SuperblockLayout::Link;
    /// What a link says where it is not the number of the next free slot.
    static constexpr Link withheld = 0xFFF1; ///< free, but not to be used yet
    static constexpr Link live = 0xFFF8;     ///< with any of these three:
    static constexpr Link inside = 1;        ///< the object stands inside the slot
    static constexpr Link old = 2;           ///< it is live from before the tenant came
    static constexpr Link aside = 4;         ///< a cache keeps it: for the program it is freed

    SuperblockSlots() = default;
    ~SuperblockSlots() = default;

    /// From here on no slot was ever used, nor has a link.
    [[nodiscard]] Link freshFrom() const noexcept { return fresh_.load(std::memory_order_relaxed); }
    void setFresh(std::uint32_t slot) noexcept {
        fresh_.store(static_cast<Link>(slot), std::memory_order_relaxed);
    }

    /// Whether an object is live and nothing is out of the ordinary with it. Its owner may ask
    /// while others use the superblock.
    [[nodiscard, gnu::always_inline]] bool isUsualAt(std::uint32_t slot,
                                                     const void* object) const noexcept {
        return slot < freshFrom() && linkOf(slot) == live && slotAt(slot) == object;
    }

    /// A slot's link, read in one step: that of a live object may become old meanwhile.
    [[nodiscard]] Link linkOf(std::uint32_t slot) const noexcept {
        return __atomic_load_n(links() + slot, __ATOMIC_RELAXED);
    }
    [[nodiscard]] Link* links() noexcept { return static_cast<Link*>(forward(this, cacheLine)); }
    [[nodiscard]] const Link* links() const noexcept {
        return static_cast<const Link*>(pointerTo(addressOf(this) + cacheLine));
    }
    [[nodiscard]] void* slotAt(std::uint32_t slot) const noexcept {
        return pointerTo(addressOf(this) + layout_.first + std::size_t{slot} * layout_.slot);
    }
    /// How far behind the start of the first slot an address is; huge if it is before that.
    [[nodiscard]] std::uint32_t offsetOf(const void* object, const Layout& layout) const noexcept {
        return static_cast<std::uint32_t>(addressOf(object) - addressOf(this)) - layout.first;
    }
    /// The slot in which an offset is; too large if there is none.
    [[nodiscard]] static std::uint32_t slotAround(std::uint32_t offset,
                                                  const Layout& layout) noexcept {
        return static_cast<std::uint32_t>((std::uint64_t{offset} * layout.reciprocal) >> 32U);
    }
    /// The slot in which an address is; too large if there is none.
    [[nodiscard]] std::uint32_t indexOf(const void* object) const noexcept {
        return slotAround(offsetOf(object, layout_), layout_);
    }

    /// The first word of a slot in which an object stands further on.
    [[nodiscard]] static std::uint64_t leadOf(const void* slot, const void* object) noexcept {
        return 0xA11C'0DE5'1DE0'0000U + (addressOf(object) - addressOf(slot));
    }
    [[nodiscard]] static bool leadsTo(const void* slot, const void* object) noexcept {
        return *static_cast<const std::uint64_t*>(slot) == leadOf(slot, object);
    }

    [[gnu::cold, gnu::noinline]] void checkUnusual(const void* object,
                                                   std::string_view routine) const noexcept {
        const std::uint32_t slot = indexOf(object);
        bool freed = false;
        if (slot >= freshFrom() && slot < layout_.count) {
            freed = slotAt(slot) == object; // or it never was an object
        } else if (slot < freshFrom()) {
            const Link link = linkOf(slot);
            const void* const start = slotAt(slot);
            const bool given = link >= live && (link & aside) == 0;
            const bool atStart = start == object;
            const bool leads = !atStart && leadsTo(start, object);
            if (given && ((link & inside) != 0 ? leads : atStart)) {
                return;
            }
            freed = !given && (atStart || leads);
        }
        platform::abortWithMessage(routine, !freed              ? "invalid pointer"
                                            : routine == "free" ? "double free"
                                                                : "use of a freed object");
    }

    Layout layout_;
    Link head_ = 0;             ///< the free slot to use next: the last of those has `fresh_`
    SharedWord<Link> fresh_;    ///< `freshFrom`, written under the owner's lock
    std::uint16_t used_ = 0;    ///< how many slots are live
    std::uint16_t room_ = 0;    ///< how many may be used, where some are withheld
    std::uint16_t unusual_ = 0; ///< how many are live that are old or inside their slots
    std::uint16_t class_ = 0;
};

} // namespace heapwright

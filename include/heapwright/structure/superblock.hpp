// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A superblock: objects of one size class in an aligned block of memory that has one owner.
//
//   [ header: owner, links, class … ][ 16 bits for each slot ][ slots, from a cache line's start on
//   ]
//
// Objects have neither header nor tag: an object's superblock is its address without the low bits,
// and its slot follows by a multiplication. What state a slot is in stands in 16 bits apart from
// it: which free slot comes next, or that it is live. So a freed object is not touched, nothing
// that a program writes beyond an object reaches what is kept here, and a wrong free is told from a
// right one. Free slots are used last in, first out, after that in the order of their addresses, so
// that memory is touched only when it is needed. An aligned object may stand inside its slot; then
// the first word of the slot says where.
//
// After a transfer to another owner `CleanLines` withholds what shares a cache line with objects
// that are live from before, until the last of them is gone.
// From Hoard's heap blocks (Berger 2002, 7.2). Cost: a multiplication for each object.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/sync/events.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright {

/// A heap of aligned blocks of one size that never writes to them, and of whose addresses any
/// thread may ask at any time.
template <class H>
concept BlockHeap = OwningHeap<H> && ClearableHeap<H> && TrimmableHeap<H> && requires {
    { H::blockSize } -> std::convertible_to<std::size_t>;
    requires H::alignment >= H::blockSize;
};

/// Any free slot of a superblock may be used.
struct AnyLines {
    static constexpr bool clean = false;
};

/// After a superblock has been transferred, no slot is used that shares a cache line with an object
/// that is live from before.
struct CleanLines {
    static constexpr bool clean = true;
};

template <std::size_t Size, class Lines>
class Superblock {
    static constexpr std::size_t cacheLine = 64;

    using Link = std::uint16_t;
    /// What a link says where it is not the number of the next free slot.
    static constexpr Link end = 0xFFF0;      ///< free, and no free slot comes after it
    static constexpr Link withheld = 0xFFF1; ///< free, but not to be used yet
    static constexpr Link live = 0xFFF8;     ///< with any of these three:
    static constexpr Link inside = 1;        ///< the object stands inside the slot
    static constexpr Link old = 2;           ///< it is live from before the last transfer
    static constexpr Link aside = 4;         ///< a cache keeps it: for the program it is freed

public:
    static constexpr bool clean = Lines::clean;

    /// What the superblocks of a size class have in common.
    struct Layout {
        std::uint32_t slot;       ///< the size of a slot
        std::uint32_t reciprocal; ///< 2^32 over that, rounded up
        std::uint32_t share;      ///< 2^32 over the number of slots, rounded up
        std::uint16_t count;      ///< how many slots there are
        std::uint16_t first;      ///< where they start
    };

    static_assert(std::has_single_bit(Size) && Size >= 512 && Size <= 64 * KiB);

    [[nodiscard]] static constexpr Layout layoutFor(std::size_t slot) noexcept {
        std::size_t count = (Size - cacheLine) / (slot + sizeof(Link));
        while (firstFor(count) + count * slot > Size) {
            --count;
        }
        return {static_cast<std::uint32_t>(slot), reciprocalOf(slot), reciprocalOf(count),
                static_cast<std::uint16_t>(count), static_cast<std::uint16_t>(firstFor(count))};
    }

    /// The superblock in which an object stands. Pre: it stands in one.
    [[nodiscard]] static Superblock& of(const void* object) noexcept {
        return *static_cast<Superblock*>(pointerTo(roundDown(addressOf(object), Size)));
    }

    /// Memory that is nobody's becomes an empty superblock of a class.
    Superblock(const Layout& layout, std::size_t sizeClass) noexcept { reshape(layout, sizeClass); }
    Superblock(const Superblock&) = delete;
    Superblock& operator=(const Superblock&) = delete;
    ~Superblock() = default;

    /// An empty superblock becomes one of another class.
    void reshape(const Layout& layout, std::size_t sizeClass) noexcept {
        layout_ = layout;
        class_ = static_cast<std::uint16_t>(sizeClass);
        used_ = 0;
        room_ = layout.count;
        head_ = 0;
        Link* const link = links();
        for (std::uint32_t slot = 0; slot < layout.count; ++slot) {
            link[slot] = static_cast<Link>(slot + 1);
        }
        link[layout.count - 1] = end;
    }

    /// A free slot. Pre: there is one (`hasRoom`).
    [[nodiscard, gnu::always_inline]] void* take() noexcept {
        note(Event::written, this);
        const Link slot = head_;
        head_ = links()[slot];
        links()[slot] = live;
        ++used_;
        if constexpr (clean) {
            --room_;
        }
        return slotAt(slot);
    }

    /// The first address in a slot just taken that has an alignment: there the object stands.
    [[nodiscard]] static void* moveInside(void* slot, std::size_t alignment) noexcept {
        void* const object = pointerTo(roundUp(addressOf(slot), alignment));
        if (object != slot) {
            Superblock& block = of(slot);
            block.links()[block.indexOf(slot)] = live | inside;
            ::new (slot) std::uint64_t(leadOf(slot, object));
        }
        return object;
    }

    /// Takes an object back. Aborts if it is none that is live.
    [[gnu::always_inline]] void give(void* object) noexcept {
        note(Event::written, this);
        const std::uint32_t slot = indexOf(object);
        if (slot >= layout_.count || links()[slot] != live || slotAt(slot) != object) [[unlikely]] {
            giveUnusual(object);
            return;
        }
        push(slot);
    }

    /// Aborts unless the object is live. Its owner may ask without a lock.
    void check(const void* object, std::string_view routine) const noexcept {
        const std::uint32_t slot = indexOf(object);
        if (slot >= layout_.count || links()[slot] != live || slotAt(slot) != object) [[unlikely]] {
            checkUnusual(object, routine);
        }
    }

    /// The same, and its size class; a number that is none if it stands inside its slot.
    [[nodiscard, gnu::always_inline]] std::size_t
    classOfLive(const void* object, std::string_view routine) const noexcept {
        const std::uint32_t slot = indexOf(object);
        if (slot >= layout_.count || links()[slot] != live || slotAt(slot) != object) [[unlikely]] {
            checkUnusual(object, routine);
            return SIZE_MAX;
        }
        return class_;
    }

    /// How many bytes there are from an object's start to the end of its slot. No lock is needed.
    [[nodiscard]] std::size_t capacityAt(const void* object) const noexcept {
        return layout_.slot - (offsetOf(object) - indexOf(object) * layout_.slot);
    }

    /// A cache keeps an object: for the program it is freed, here it counts as used. Aborts unless
    /// it is live. No lock is needed, since who frees an object is alone with it; but not together
    /// with `CleanLines`.
    void setAside(void* object, std::string_view routine) noexcept requires(!Lines::clean) {
        check(object, routine);
        Link& link = links()[indexOf(object)];
        link = static_cast<Link>(link | aside);
    }

    /// A cache gives out what it kept, or is about to free it. (It may have stood inside its slot.)
    void bringBack(void* object) noexcept requires(!Lines::clean) {
        Link& link = links()[indexOf(object)];
        link = static_cast<Link>(link & ~aside);
    }

    /// What is live now was so before: what shares a cache line with it is withheld.
    void becomeOld() noexcept {
        for (std::uint32_t slot = 0; slot < layout_.count; ++slot) {
            Link& link = links()[slot];
            link = link >= live ? static_cast<Link>(link | old) : withheld;
        }
        head_ = end;
        room_ = 0;
        for (std::uint32_t slot = layout_.count; slot-- > 0;) {
            release(slot);
        }
    }

    [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
    [[nodiscard]] std::size_t sizeClass() const noexcept { return class_; }
    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t count() const noexcept { return layout_.count; }
    /// In which of so many equal parts of the superblock its last used slot would be, if they were
    /// all in a row. Pre: not all are used.
    [[nodiscard]] std::uint32_t partUsed(std::uint32_t parts) const noexcept {
        return static_cast<std::uint32_t>(
            (std::uint64_t{std::uint32_t{used_} * parts} * layout_.share) >> 32U);
    }
    /// Whether a slot can be taken.
    [[nodiscard]] bool hasRoom() const noexcept {
        if constexpr (clean) {
            return room_ != 0;
        } else {
            return used_ != layout_.count;
        }
    }

    SharedWord<void*> owner;        ///< null: nobody's
    Superblock* next = nullptr;     ///< in its group
    Superblock* previous = nullptr; ///< in its group
    std::uint32_t tenant = 0;       ///< for which of its owner's threads its lines are clean
    std::uint16_t group = 0;        ///< where its owner keeps it,
    std::uint16_t low = 0;          ///< with as many used as this
    std::uint16_t high = 0;         ///< up to less than this

private:
    [[nodiscard]] static constexpr std::uint32_t reciprocalOf(std::size_t number) noexcept {
        const std::uint64_t one = std::uint64_t{1} << 32U;
        return number == 1 ? 0xFFFFFFFF : static_cast<std::uint32_t>((one + number - 1) / number);
    }
    [[nodiscard]] static constexpr std::size_t firstFor(std::size_t count) noexcept {
        return roundUp(cacheLine + count * sizeof(Link), cacheLine);
    }
    [[nodiscard]] Link* links() noexcept { return static_cast<Link*>(forward(this, cacheLine)); }
    [[nodiscard]] const Link* links() const noexcept {
        return static_cast<const Link*>(pointerTo(addressOf(this) + cacheLine));
    }
    [[nodiscard]] void* slotAt(std::uint32_t slot) const noexcept {
        return pointerTo(addressOf(this) + layout_.first + std::size_t{slot} * layout_.slot);
    }
    /// How far behind the start of the first slot an address is; huge if it is before that.
    [[nodiscard]] std::uint32_t offsetOf(const void* object) const noexcept {
        return static_cast<std::uint32_t>(addressOf(object) - addressOf(this)) - layout_.first;
    }
    /// The slot in which an address is; too large if there is none.
    [[nodiscard]] std::uint32_t indexOf(const void* object) const noexcept {
        return static_cast<std::uint32_t>((std::uint64_t{offsetOf(object)} * layout_.reciprocal) >>
                                          32U);
    }

    /// The first word of a slot in which an object stands further on.
    [[nodiscard]] static std::uint64_t leadOf(const void* slot, const void* object) noexcept {
        return 0xA11C'0DE5'1DE0'0000U + (addressOf(object) - addressOf(slot));
    }
    [[nodiscard]] static bool leadsTo(const void* slot, const void* object) noexcept {
        return *static_cast<const std::uint64_t*>(slot) == leadOf(slot, object);
    }

    void push(std::uint32_t slot) noexcept {
        links()[slot] = head_;
        head_ = static_cast<Link>(slot);
        --used_;
        if constexpr (clean) {
            ++room_;
        }
    }

    [[gnu::cold, gnu::noinline]] void giveUnusual(void* object) noexcept {
        checkUnusual(object, "free");
        const std::uint32_t slot = indexOf(object);
        if constexpr (clean) {
            if ((links()[slot] & old) != 0) {
                links()[slot] = withheld;
                --used_;
                const Range near = sharing(slot);
                for (std::uint32_t other = near.first; other <= near.last; ++other) {
                    release(other);
                }
                return;
            }
        }
        push(slot);
    }

    [[gnu::cold, gnu::noinline]] void checkUnusual(const void* object,
                                                   std::string_view routine) const noexcept {
        const std::uint32_t slot = indexOf(object);
        bool freed = false;
        if (slot < layout_.count) {
            const Link link = links()[slot];
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

    /// The slots that share a cache line with a slot, itself among them.
    struct Range {
        std::uint32_t first;
        std::uint32_t last;
    };
    [[nodiscard]] Range sharing(std::uint32_t slot) const noexcept {
        const std::size_t start = roundDown(std::size_t{slot} * layout_.slot, cacheLine);
        const std::size_t stop = roundUp((std::size_t{slot} + 1) * layout_.slot, cacheLine);
        const std::size_t last = (stop - 1) / layout_.slot;
        const std::size_t most = layout_.count - std::size_t{1};
        return {static_cast<std::uint32_t>(start / layout_.slot),
                static_cast<std::uint32_t>(last < most ? last : most)};
    }

    /// A slot that is withheld may be used from now on, unless it still shares a line with an old
    /// object.
    void release(std::uint32_t slot) noexcept {
        if (links()[slot] != withheld) {
            return;
        }
        const Range near = sharing(slot);
        for (std::uint32_t other = near.first; other <= near.last; ++other) {
            if (links()[other] >= live && (links()[other] & old) != 0) {
                return;
            }
        }
        links()[slot] = head_;
        head_ = static_cast<Link>(slot);
        ++room_;
    }

    Layout layout_;
    Link head_ = end;        ///< the free slot to use next
    std::uint16_t used_ = 0; ///< how many slots are live
    std::uint16_t room_ = 0; ///< how many may be used, where some are withheld
    std::uint16_t class_ = 0;

    static_assert(Size / 8 < end);
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A superblock: objects of one size class in an aligned block of memory that has one owner.
//
//   [ header, one cache line ][ 16 bits for each slot ][ slots, from a cache line's start ]
//
// Objects have neither header nor tag. An object's superblock is its address without the low bits.
// A multiplication by a reciprocal gives its slot exactly. Each slot has 16 bits of state apart
// from it: the number of the next free slot, or a mark that the slot is live. So `free` does not
// touch the object, and a write beyond an object does not reach the state. `free` detects a double
// free and an invalid pointer.
//
// Free slots are reused last in, first out. Unused slots follow in the order of their addresses.
// Nothing is written for an unused slot, so the constructor takes constant time and memory is
// touched only when it is needed. An object with a large alignment may start inside its slot. The
// first word of the slot then holds its offset.
//
// With `CleanLines` the superblock serves one thread at a time, its tenant, which the owner tag
// names (structure/cache/owner_tag.hpp). When the tag changes, every live object becomes old. A
// free slot that shares a cache line with an old object is withheld until that object is freed.
// With `CleanRunningLines` objects become old only if the tenant before is still running. An ended
// tenant leaves no tag, so its successor uses all free slots, and caches all objects.
//
// Invariant: the first word of the header is the owner tag. Its lowest bit is set while an object
// is old or inside its slot. A thread with this tag may cache the objects that it frees here.
// Invariant: the owner's lock protects all members, except where a comment names another rule.
// Cost: a multiplication for each free.
// Source: Hoard's heap blocks (Berger 2002, 7.2).
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/structure/superblock/line_policies.hpp>
#include <heapwright/structure/superblock/superblock_layout.hpp>
#include <heapwright/sync/events.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

namespace heapwright {

/// A heap of aligned blocks of one size. It never writes to a free block, and any thread may call
/// its `owns` at any time.
template <class H>
concept BlockHeap = OwningHeap<H> && TrimmableHeap<H> && requires {
    { H::blockSize } -> std::convertible_to<std::size_t>;
    requires H::blockSize != 0 && H::alignment >= H::blockSize;
};

template <class Block>
class SuperblockView;

/// The members of a superblock and the positions of its slots. It is a base class only because the
/// compiler then needs fewer instructions for `free`.
template <class Block>
class SuperblockSlots {
public:
    using Layout = SuperblockLayout;

    /// Aborts unless the object is live. The thread that owns the object needs no lock.
    void check(const void* object, std::string_view routine) const noexcept {
        const std::uint32_t slot = indexOf(object);
        if (!isPlainAt(slot, object)) [[unlikely]] {
            checkSpecial(object, routine);
        }
    }

    /// The size class of an object; SIZE_MAX if the object is inside its slot. Aborts unless the
    /// object is live.
    [[nodiscard, gnu::always_inline]] std::size_t
    classOfLive(const void* object, std::string_view routine) const noexcept {
        const std::uint32_t slot = indexOf(object);
        if (!isPlainAt(slot, object)) [[unlikely]] {
            checkSpecial(object, routine);
            return SIZE_MAX;
        }
        return class_;
    }

    /// The number of bytes from an object's start to the end of its slot. No lock is needed.
    [[nodiscard]] std::size_t capacityAt(const void* object) const noexcept {
        return layout_.slot - (offsetOf(object, layout_) - indexOf(object) * layout_.slot);
    }

    [[nodiscard]] const Layout& layout() const noexcept { return layout_; }
    [[nodiscard]] std::size_t sizeClass() const noexcept { return class_; }
    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t count() const noexcept { return layout_.count; }
    /// The fullness as a number from 0 to `parts - 1`. Pre: a slot is not used.
    [[nodiscard]] std::uint32_t partUsed(std::uint32_t parts) const noexcept {
        return std::uint32_t{used_} * parts / layout_.count;
    }

protected:
    OwnerTagWord ownerTag_{cachingSuspended}; ///< the first word; any thread reads it

public:
    SharedWord<void*> owner;   ///< null: none; any thread reads it
    Block* next = nullptr;     ///< in the list of its group
    Block* previous = nullptr; ///< in the list of its group
    std::uint16_t group = 0;   ///< number of the group in its owner's lists
    std::uint16_t low = 0;     ///< least number of used slots in this group
    std::uint16_t high = 0;    ///< least number of used slots in the next group

protected:
    static constexpr std::size_t cacheLine = SuperblockLayout::cacheLine;

    using Link = SuperblockLayout::Link;
    /// Values of a link that are not the number of the next free slot.
    static constexpr Link withheld = 0xFFF1; ///< free, on a cache line with an old object
    static constexpr Link live = 0xFFF8;     ///< live, with any of the next three bits
    static constexpr Link inside = 1;        ///< the object starts inside its slot
    static constexpr Link old = 2;           ///< allocated before the owner tag changed
    static constexpr Link cached = 4;        ///< in a cache: freed for the program

    /// The first slot that was never used. Its link, and all later ones, are not written.
    [[nodiscard]] Link firstUnused() const noexcept {
        return firstUnused_.load(std::memory_order_relaxed);
    }
    void setFirstUnused(std::uint32_t slot) noexcept {
        firstUnused_.store(static_cast<Link>(slot), std::memory_order_relaxed);
    }

    /// Whether a slot is live without further bits and an object is at its start. The thread that
    /// owns the object may call this while other threads use the superblock.
    [[nodiscard, gnu::always_inline]] bool isPlainAt(std::uint32_t slot,
                                                     const void* object) const noexcept {
        return slot < firstUnused() && linkOf(slot) == live && slotAt(slot) == object;
    }

    /// A slot's link, loaded once: the link of a live object may become old meanwhile.
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
    /// The offset of an address from the first slot; a huge number for an address before it.
    [[nodiscard]] std::uint32_t offsetOf(const void* object, const Layout& layout) const noexcept {
        return static_cast<std::uint32_t>(addressOf(object) - addressOf(this)) - layout.first;
    }
    /// The slot of an offset; `count` or more if there is none.
    [[nodiscard]] static std::uint32_t slotAround(std::uint32_t offset,
                                                  const Layout& layout) noexcept {
        return static_cast<std::uint32_t>((std::uint64_t{offset} * layout.reciprocal) >> 32U);
    }
    /// The slot of an address; `count` or more if there is none.
    [[nodiscard]] std::uint32_t indexOf(const void* object) const noexcept {
        return slotAround(offsetOf(object, layout_), layout_);
    }

    /// The first word of a slot whose object starts inside it: a constant plus the offset.
    [[nodiscard]] static std::uint64_t offsetMark(const void* slot, const void* object) noexcept {
        return 0xA11C'0DE5'1DE0'0000U + (addressOf(object) - addressOf(slot));
    }
    [[nodiscard]] static bool hasOffsetMark(const void* slot, const void* object) noexcept {
        return *static_cast<const std::uint64_t*>(slot) == offsetMark(slot, object);
    }

    SuperblockSlots() = default;
    ~SuperblockSlots() = default;

    [[gnu::cold, gnu::noinline]] void checkSpecial(const void* object,
                                                   std::string_view routine) const noexcept {
        const std::uint32_t slot = indexOf(object);
        bool freed = false;
        if (slot >= firstUnused() && slot < layout_.count) {
            freed = slotAt(slot) == object; // freed before a reshape, or never allocated
        } else if (slot < firstUnused()) {
            const Link link = linkOf(slot);
            const void* const start = slotAt(slot);
            const bool allocated = link >= live && (link & cached) == 0;
            const bool atStart = start == object;
            const bool marked = !atStart && hasOffsetMark(start, object);
            if (allocated && ((link & inside) != 0 ? marked : atStart)) {
                return;
            }
            freed = !allocated && (atStart || marked);
        }
        platform::abortWithMessage(routine, !freed              ? "invalid pointer"
                                            : routine == "free" ? "double free"
                                                                : "use of a freed object");
    }

    Layout layout_;                ///< of its size class
    Link head_ = 0;                ///< first free slot; equals `firstUnused_` if none was freed
    SharedWord<Link> firstUnused_; ///< written under the owner's lock, read without it
    std::uint16_t used_ = 0;       ///< number of live slots
    std::uint16_t room_ = 0;       ///< number of available slots; only with `CleanLines`
    std::uint16_t special_ = 0;    ///< number of live slots that are old or inside
    std::uint16_t class_ = 0;      ///< number of the size class
};

template <std::size_t Size, class Lines>
class Superblock : public SuperblockSlots<Superblock<Size, Lines>> {
    friend class SuperblockView<Superblock>;
    using Slots = SuperblockSlots<Superblock>;
    using Slots::cached;
    using Slots::cacheLine;
    using Slots::checkSpecial;
    using Slots::class_;
    using Slots::firstUnused;
    using Slots::head_;
    using Slots::indexOf;
    using Slots::inside;
    using Slots::isPlainAt;
    using Slots::layout_;
    using Slots::links;
    using Slots::live;
    using Slots::offsetMark;
    using Slots::offsetOf;
    using Slots::old;
    using Slots::ownerTag_;
    using Slots::room_;
    using Slots::setFirstUnused;
    using Slots::slotAround;
    using Slots::slotAt;
    using Slots::special_;
    using Slots::used_;
    using Slots::withheld;
    using typename Slots::Link;

public:
    using Slots::check;
    using typename Slots::Layout;
    static constexpr bool clean = Lines::clean;

    static_assert(std::has_single_bit(Size) && Size >= 512 && Size <= 64 * KiB);

    [[nodiscard]] static constexpr Layout layoutFor(std::size_t slot) noexcept {
        return Layout::of(Size, slot);
    }

    /// The superblock that contains an object. Pre: one does.
    [[nodiscard]] static Superblock& of(const void* object) noexcept {
        return *static_cast<Superblock*>(pointerTo(roundDown(addressOf(object), Size)));
    }

    /// Post: an empty superblock of a class, without owner and without a thread's tag.
    Superblock(const Layout& layout, std::size_t sizeClass) noexcept { reshape(layout, sizeClass); }
    Superblock(const Superblock&) = delete;
    Superblock& operator=(const Superblock&) = delete;
    ~Superblock() = default;

    /// Changes the class of an empty superblock. Post: the owner tag is the same.
    void reshape(const Layout& layout, std::size_t sizeClass) noexcept {
        layout_ = layout;
        class_ = static_cast<std::uint16_t>(sizeClass);
        used_ = 0;
        resetSlots();
    }

    /// A free slot. Pre: `hasRoom()`.
    [[nodiscard, gnu::always_inline]] void* allocate() noexcept {
        note(Event::written, this);
        const Link slot = head_;
        if (slot == firstUnused()) {
            head_ = static_cast<Link>(slot + 1U);
            setFirstUnused(head_);
        } else {
            head_ = links()[slot];
        }
        links()[slot] = live;
        ++used_;
        if constexpr (clean) {
            --room_;
        }
        return slotAt(slot);
    }

    /// Appends up to `most` free slots to a chain at `*end`, and returns their number.
    /// Pre: `hasRoom()`. Post: `end` is the chain's new end.
    [[nodiscard]] std::uint32_t allocateChain(std::uint32_t most, ObjectLink**& end) noexcept {
        note(Event::written, this);
        Link* const link = links();
        const Address start = addressOf(this) + layout_.first;
        const std::size_t size = layout_.slot;
        const Link unused = firstUnused();
        std::uint32_t count = 0;
        Link slot = head_;
        for (; count < most && slot != unused; ++count) {
            void* const object = pointerTo(start + slot * size);
            slot = std::exchange(link[slot], live);
            *end = ::new (object) ObjectLink;
            end = &(*end)->next;
        }
        if (count < most) { // only unused slots are left
            const std::uint32_t left = std::uint32_t{layout_.count} - unused;
            const std::uint32_t stop = unused + (most - count < left ? most - count : left);
            Address object = start + unused * size;
            count += stop - unused;
            for (std::uint32_t each = unused; each < stop; ++each) {
                link[each] = live;
                *end = ::new (pointerTo(object)) ObjectLink;
                end = &(*end)->next;
                object += size;
            }
            slot = static_cast<Link>(stop);
            setFirstUnused(stop);
        }
        *end = nullptr;
        head_ = slot;
        used_ = static_cast<std::uint16_t>(used_ + count);
        if constexpr (clean) {
            room_ = static_cast<std::uint16_t>(room_ - count);
        }
        return count;
    }

    /// The first aligned address in a slot that was just allocated. Post: the object starts there.
    [[nodiscard]] static void* alignInSlot(void* slot, std::size_t alignment) noexcept {
        void* const object = pointerTo(roundUp(addressOf(slot), alignment));
        if (object != slot) {
            Superblock& block = of(slot);
            block.links()[block.indexOf(slot)] = live | inside;
            ++block.special_;
            block.updateOwnerTag();
            ::new (slot) std::uint64_t(offsetMark(slot, object));
        }
        return object;
    }

    /// Frees an object. Aborts if it is not live.
    [[gnu::always_inline]] void free(void* object) noexcept {
        note(Event::written, this);
        const std::uint32_t slot = indexOf(object);
        if (!isPlainAt(slot, object)) [[unlikely]] {
            freeSpecial(object);
            return;
        }
        pushFree(slot);
    }

    /// Frees up to `most` objects of this superblock from the front of a chain, and returns their
    /// number. The chain ends at any address outside of the superblock. A special object is freed
    /// alone. Aborts if an object links to itself, because it was freed twice in a row. Pre: the
    /// first object is of this superblock, and `most != 0`. Post: the chain begins with the first
    /// object that was not freed.
    std::uint32_t freeChain(ObjectLink*& chain, std::uint32_t most) noexcept {
        note(Event::written, this);
        const Layout layout = layout_;
        const Link unused = firstUnused();
        Link* const link = links();
        Link head = head_;
        std::uint32_t left = most;
        ObjectLink* object = chain;
        const Address start = addressOf(this) + layout.first;
        for (; left > 0; --left) {
            // In 64 bits. So no address outside of the superblock is that of a slot.
            const std::uint64_t offset = addressOf(object) - start;
            const std::uint64_t slot = (offset * layout.reciprocal) >> 32U;
            if (slot >= unused || link[slot] != live || slot * layout.slot != offset) [[unlikely]] {
                break;
            }
            object = object->next;
            link[slot] = head;
            head = static_cast<Link>(slot);
        }
        const std::uint32_t freed = most - left;
        head_ = head;
        if (freed == 0) {
            object = chain->next;
            freeSpecial(chain);
            chain = object;
            return 1;
        }
        if (freed < most && object == slotAt(head)) [[unlikely]] {
            platform::abortWithMessage("free", "double free");
        }
        chain = object;
        used_ = static_cast<std::uint16_t>(used_ - freed);
        if constexpr (clean) {
            room_ = static_cast<std::uint16_t>(room_ + freed);
        }
        return freed;
    }

    /// Marks a live object as cached: freed for the program, used for the superblock. Aborts unless
    /// it is live. No lock is needed, since only the freeing thread uses the object.
    void markCached(void* object, std::string_view routine) noexcept
        requires(!Lines::clean)
    {
        check(object, routine);
        Link& link = links()[indexOf(object)];
        link = static_cast<Link>(link | cached);
    }

    /// Removes the mark, before the cache reuses or frees the object.
    void unmarkCached(void* object) noexcept
        requires(!Lines::clean)
    {
        Link& link = links()[indexOf(object)];
        link = static_cast<Link>(link & ~cached);
    }

    /// The tag of the thread for which the lines are clean; 0 if they are clean for any thread.
    [[nodiscard]] OwnerTag ownerTag() const noexcept
        requires(Lines::clean)
    {
        return ownerTag_.load(std::memory_order_relaxed) & ~cachingSuspended;
    }

    /// Assigns the superblock to a tag. If the tag changes, all live objects become old.
    void assignTo(OwnerTag tag) noexcept
        requires(Lines::clean)
    {
        if (ownerTag() != tag) {
            if (ownerTag() != 0) {
                makeObjectsOld();
            }
            ownerTag_.store(tag, std::memory_order_relaxed);
            updateOwnerTag();
        }
    }

    /// Removes the tag of a tenant that has ended. Objects that are old stay so, because they may
    /// be of running threads. Any thread may have the other lines.
    void forgetTenant() noexcept
        requires(Lines::forgetsEnded)
    {
        ownerTag_.store(cachingSuspended, std::memory_order_relaxed);
    }

    /// Removes the owner tag, before the memory returns to the heap of blocks.
    void clearOwnerTag() noexcept { ownerTag_.store(noOwnerTag, std::memory_order_relaxed); }

    /// Whether an object is live, not old and at the start of its slot. The thread that owns the
    /// object needs no lock.
    [[nodiscard, gnu::always_inline]] bool isPlain(const void* object) noexcept {
        const std::uint32_t slot = indexOf(object);
        return slot < layout_.count && slotAt(slot) == object &&
               std::atomic_ref<Link>(links()[slot]).load(std::memory_order_relaxed) == live;
    }

    /// Whether a slot can be allocated.
    [[nodiscard]] bool hasRoom() const noexcept {
        if constexpr (clean) {
            return room_ != 0;
        } else {
            return used_ != layout_.count;
        }
    }

private:
    static_assert(Size / 8 < withheld);

    void pushFree(std::uint32_t slot) noexcept {
        links()[slot] = head_;
        head_ = static_cast<Link>(slot);
        --used_;
        if constexpr (clean) {
            ++room_;
        }
    }

    [[gnu::cold, gnu::noinline]] void freeSpecial(void* object) noexcept {
        checkSpecial(object, "free");
        const std::uint32_t slot = indexOf(object);
        const Link link = links()[slot];
        if ((link & (inside | old)) != 0) {
            --special_;
        }
        if constexpr (clean) {
            if ((link & old) != 0) {
                links()[slot] = withheld;
                --used_;
                const Range near = onLinesOf(slot);
                for (std::uint32_t each = near.first; each <= near.last && each < firstUnused();
                     ++each) {
                    releaseIfClean(each);
                }
            } else {
                pushFree(slot);
            }
            updateOwnerTag();
        } else {
            pushFree(slot);
        }
    }

    /// Marks all live objects as old. Post: no free slot on a line with one of them is available.
    void makeObjectsOld() noexcept {
        if (used_ == 0) {
            resetSlots();
            return;
        }
        std::uint32_t unused = firstUnused();
        while (unused < layout_.count && onLinesOf(unused).first < unused) {
            links()[unused++] = withheld;
        }
        setFirstUnused(unused);
        for (std::uint32_t slot = 0; slot < unused; ++slot) {
            Link& link = links()[slot];
            const Link now = link >= live ? static_cast<Link>(link | old) : withheld;
            std::atomic_ref<Link>(link).store(now, std::memory_order_relaxed); // others read it
        }
        special_ = used_;
        head_ = static_cast<Link>(unused);
        room_ = static_cast<std::uint16_t>(layout_.count - unused);
        for (std::uint32_t slot = unused; slot-- > 0;) {
            releaseIfClean(slot);
        }
    }

    /// Makes all slots unused. Pre: no slot is live.
    void resetSlots() noexcept {
        head_ = 0;
        setFirstUnused(0);
        room_ = layout_.count;
        special_ = 0;
    }

    /// Sets the lowest bit of the owner tag if and only if there is a special object.
    void updateOwnerTag() noexcept {
        if constexpr (clean) {
            const OwnerTag bit = special_ != 0 || !isThreadTag(ownerTag()) ? cachingSuspended : 0U;
            ownerTag_.store(ownerTag() | bit, std::memory_order_relaxed);
        }
    }

    struct Range {
        std::uint32_t first;
        std::uint32_t last;
    };
    /// The slots that share a cache line with a slot, including the slot itself.
    [[nodiscard]] Range onLinesOf(std::uint32_t slot) const noexcept {
        constexpr std::uint32_t inLine = cacheLine - 1;
        const std::uint32_t start = slot * layout_.slot & ~inLine;
        const std::uint32_t end = ((slot + 1) * layout_.slot - 1) | inLine;
        const std::uint32_t last = slotAround(end, layout_);
        const std::uint32_t most = std::uint32_t{layout_.count} - 1;
        return {slotAround(start, layout_), last < most ? last : most};
    }

    /// Makes a withheld slot available unless it shares a cache line with an old object.
    void releaseIfClean(std::uint32_t slot) noexcept {
        if (links()[slot] != withheld) {
            return;
        }
        const Range near = onLinesOf(slot);
        for (std::uint32_t each = near.first; each <= near.last && each < firstUnused(); ++each) {
            if (links()[each] >= live && (links()[each] & old) != 0) {
                return;
            }
        }
        links()[slot] = head_;
        head_ = static_cast<Link>(slot);
        ++room_;
    }
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A superblock: objects of one size class in an aligned block of memory that has one owner.
//
//   [ header: home, owner, class … ][ 16 bits for each slot ][ slots, from a cache line's start on
//   ]
//
// Objects have neither header nor tag: an object's superblock is its address without the low bits,
// and its slot follows by a multiplication. What state a slot is in stands in 16 bits apart from
// it: which free slot comes next, or that it is live. So a freed object is not touched, nothing
// that a program writes beyond an object reaches what is kept here, and a wrong free is told from a
// right one. Free slots are used last in, first out, after that in the order of their addresses;
// of those that were never used nothing is written, so that a superblock is made in constant time
// and its memory, 16 bits included, is touched only when it is needed. An aligned object may stand
// inside its slot; then the first word of the slot says where.
//
// With `CleanLines` a superblock has a tenant, the thread that it serves. When that changes, all
// that is live becomes old, and what shares a cache line with an old object is withheld until the
// last of them is gone. The first word of the header is the owner tag
// (structure/cache/owner_tag.hpp): the key of the tenant, with its lowest bit set while some object
// is old or stands inside its slot; so whoever has this key may keep what he frees here, and find
// its class in the header. From Hoard's heap blocks (Berger 2002, 7.2). Cost: a multiplication for
// each object.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/structure/superblock/superblock_layout.hpp>
#include <heapwright/structure/superblock/superblock_slots.hpp>
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

template <class Block>
class SuperblockView;

template <std::size_t Size, class Lines>
class Superblock : public SuperblockSlots<Superblock<Size, Lines>> {
    friend class SuperblockView<Superblock>;
    using Slots = SuperblockSlots<Superblock>;
    using Slots::aside;
    using Slots::cacheLine;
    using Slots::checkUnusual;
    using Slots::class_;
    using Slots::freshFrom;
    using Slots::head_;
    using Slots::home_;
    using Slots::indexOf;
    using Slots::inside;
    using Slots::isUsualAt;
    using Slots::layout_;
    using Slots::leadOf;
    using Slots::links;
    using Slots::live;
    using Slots::offsetOf;
    using Slots::old;
    using Slots::room_;
    using Slots::setFresh;
    using Slots::slotAround;
    using Slots::slotAt;
    using Slots::unusual_;
    using Slots::used_;
    using Slots::withheld;
    using typename Slots::Link;

public:
    static constexpr bool clean = Lines::clean;
    using Slots::check;
    using typename Slots::Layout;

    static_assert(std::has_single_bit(Size) && Size >= 512 && Size <= 64 * KiB);

    [[nodiscard]] static constexpr Layout layoutFor(std::size_t slot) noexcept {
        return Layout::of(Size, slot);
    }

    /// The superblock in which an object stands. Pre: it stands in one.
    [[nodiscard]] static Superblock& of(const void* object) noexcept {
        return *static_cast<Superblock*>(pointerTo(roundDown(addressOf(object), Size)));
    }

    /// Memory that is nobody's becomes an empty superblock of a class, without a tenant.
    Superblock(const Layout& layout, std::size_t sizeClass) noexcept { reshape(layout, sizeClass); }
    Superblock(const Superblock&) = delete;
    Superblock& operator=(const Superblock&) = delete;
    ~Superblock() = default;

    /// An empty superblock becomes one of another class. Its tenant stays.
    void reshape(const Layout& layout, std::size_t sizeClass) noexcept {
        layout_ = layout;
        class_ = static_cast<std::uint16_t>(sizeClass);
        used_ = 0;
        startAfresh();
    }

    /// A free slot. Pre: there is one (`hasRoom`).
    [[nodiscard, gnu::always_inline]] void* take() noexcept {
        note(Event::written, this);
        const Link slot = head_;
        if (slot == freshFrom()) {
            head_ = static_cast<Link>(slot + 1U);
            setFresh(head_);
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

    /// Free slots, `most` of them if there are so many, in a chain that begins at `*end`; `end` is
    /// then where it goes on. Answers how many there are. Pre: there is one.
    [[nodiscard]] std::uint32_t takeChain(std::uint32_t most, ObjectLink**& end) noexcept {
        note(Event::written, this);
        Link* const link = links();
        const Address start = addressOf(this) + layout_.first;
        const std::size_t size = layout_.slot;
        const Link fresh = freshFrom();
        std::uint32_t count = 0;
        Link slot = head_;
        for (; count < most && slot != fresh; ++count) {
            void* const object = pointerTo(start + slot * size);
            slot = std::exchange(link[slot], live);
            *end = ::new (object) ObjectLink;
            end = &(*end)->next;
        }
        if (count < most) { // what follows was never used
            const std::uint32_t left = std::uint32_t{layout_.count} - fresh;
            const std::uint32_t stop = fresh + (most - count < left ? most - count : left);
            Address object = start + fresh * size;
            count += stop - fresh;
            for (std::uint32_t each = fresh; each < stop; ++each) {
                link[each] = live;
                *end = ::new (pointerTo(object)) ObjectLink;
                end = &(*end)->next;
                object += size;
            }
            slot = static_cast<Link>(stop);
            setFresh(stop);
        }
        *end = nullptr;
        head_ = slot;
        used_ = static_cast<std::uint16_t>(used_ + count);
        if constexpr (clean) {
            room_ = static_cast<std::uint16_t>(room_ - count);
        }
        return count;
    }

    /// The first address in a slot just taken that has an alignment: there the object stands.
    [[nodiscard]] static void* moveInside(void* slot, std::size_t alignment) noexcept {
        void* const object = pointerTo(roundUp(addressOf(slot), alignment));
        if (object != slot) {
            Superblock& block = of(slot);
            block.links()[block.indexOf(slot)] = live | inside;
            ++block.unusual_;
            block.sayHome();
            ::new (slot) std::uint64_t(leadOf(slot, object));
        }
        return object;
    }

    /// Takes an object back. Aborts if it is none that is live.
    [[gnu::always_inline]] void give(void* object) noexcept {
        note(Event::written, this);
        const std::uint32_t slot = indexOf(object);
        if (!isUsualAt(slot, object)) [[unlikely]] {
            giveUnusual(object);
            return;
        }
        push(slot);
    }

    /// Takes back the objects that a chain begins with, `most` of them if so many are of this
    /// superblock; the chain then begins behind them. One that is out of the ordinary comes alone.
    /// Answers how many there were. Pre: the first is of this superblock, and `most` not 0.
    std::uint32_t giveChain(ObjectLink*& chain, std::uint32_t most) noexcept {
        note(Event::written, this);
        const Layout layout = layout_;
        const Link fresh = freshFrom();
        Link* const link = links();
        Link head = head_;
        std::uint32_t given = 0;
        ObjectLink* object = chain;
        for (; given < most && object != nullptr && addressOf(object) - addressOf(this) < Size;
             ++given) {
            const std::uint32_t offset = offsetOf(object, layout);
            const std::uint32_t slot = slotAround(offset, layout);
            if (slot >= fresh || link[slot] != live || slot * layout.slot != offset) [[unlikely]] {
                break;
            }
            object = object->next;
            link[slot] = head;
            head = static_cast<Link>(slot);
        }
        head_ = head;
        if (given == 0) {
            object = chain->next;
            giveUnusual(chain);
            chain = object;
            return 1;
        }
        chain = object;
        used_ = static_cast<std::uint16_t>(used_ - given);
        if constexpr (clean) {
            room_ = static_cast<std::uint16_t>(room_ + given);
        }
        return given;
    }

    /// A cache keeps an object: for the program it is freed, here it counts as used. Aborts unless
    /// it is live. No lock is needed, since who frees an object is alone with it; but not together
    /// with `CleanLines`.
    void setAside(void* object, std::string_view routine) noexcept
        requires(!Lines::clean)
    {
        check(object, routine);
        Link& link = links()[indexOf(object)];
        link = static_cast<Link>(link | aside);
    }

    /// A cache gives out what it kept, or is about to free it. (It may have stood inside its slot.)
    void bringBack(void* object) noexcept
        requires(!Lines::clean)
    {
        Link& link = links()[indexOf(object)];
        link = static_cast<Link>(link & ~aside);
    }

    /// The key of the thread for which its lines are clean; 0 if they are so for any.
    [[nodiscard]] OwnerTag tenant() const noexcept
        requires(Lines::clean)
    {
        return home_.load(std::memory_order_relaxed) & ~cachingSuspended;
    }

    /// Gives it to a tenant. Unless that is the one it has, all that is live becomes old.
    void letTo(OwnerTag key) noexcept
        requires(Lines::clean)
    {
        if (tenant() != key) {
            if (tenant() != 0) {
                becomeOld();
            }
            home_.store(key, std::memory_order_relaxed);
            sayHome();
        }
    }

    /// Whether an object that is live here came from clean lines, and stands at the start of its
    /// slot. The thread that has it may ask without a lock.
    [[nodiscard, gnu::always_inline]] bool isUsual(const void* object) noexcept {
        const std::uint32_t slot = indexOf(object);
        return slot < layout_.count && slotAt(slot) == object &&
               std::atomic_ref<Link>(links()[slot]).load(std::memory_order_relaxed) == live;
    }

    /// It is nobody's superblock from now on.
    void endHome() noexcept { home_.store(noOwnerTag, std::memory_order_relaxed); }

    /// Whether a slot can be taken.
    [[nodiscard]] bool hasRoom() const noexcept {
        if constexpr (clean) {
            return room_ != 0;
        } else {
            return used_ != layout_.count;
        }
    }

private:
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
        const Link link = links()[slot];
        if ((link & (inside | old)) != 0) {
            --unusual_;
        }
        if constexpr (clean) {
            if ((link & old) != 0) {
                links()[slot] = withheld;
                --used_;
                const Range near = sharing(slot);
                for (std::uint32_t each = near.first; each <= near.last && each < freshFrom();
                     ++each) {
                    release(each);
                }
            } else {
                push(slot);
            }
            sayHome();
        } else {
            push(slot);
        }
    }

    /// What is live now was so before: what shares a cache line with it is withheld.
    void becomeOld() noexcept {
        if (used_ == 0) {
            startAfresh();
            return;
        }
        std::uint32_t fresh = freshFrom();
        while (fresh < layout_.count && sharing(fresh).first < fresh) {
            links()[fresh++] = withheld;
        }
        setFresh(fresh);
        for (std::uint32_t slot = 0; slot < fresh; ++slot) {
            Link& link = links()[slot];
            const Link said = link >= live ? static_cast<Link>(link | old) : withheld;
            std::atomic_ref<Link>(link).store(said, std::memory_order_relaxed); // its owner looks
        }
        unusual_ = used_;
        head_ = static_cast<Link>(fresh);
        room_ = static_cast<std::uint16_t>(layout_.count - fresh);
        for (std::uint32_t slot = fresh; slot-- > 0;) {
            release(slot);
        }
    }

    /// No slot is used, and all will be in the order of their addresses. Pre: none is live.
    void startAfresh() noexcept {
        head_ = 0;
        setFresh(0);
        room_ = layout_.count;
        unusual_ = 0;
    }

    /// Sets the lowest bit of the owner tag, or not, as `unusual_` has it.
    void sayHome() noexcept {
        if constexpr (clean) {
            const OwnerTag kept = unusual_ != 0 || !isThreadTag(tenant()) ? cachingSuspended : 0U;
            home_.store(tenant() | kept, std::memory_order_relaxed);
        }
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
        for (std::uint32_t other = near.first; other <= near.last && other < freshFrom(); ++other) {
            if (links()[other] >= live && (links()[other] & old) != 0) {
                return;
            }
        }
        links()[slot] = head_;
        head_ = static_cast<Link>(slot);
        ++room_;
    }

    static_assert(Size / 8 < withheld);
};

} // namespace heapwright

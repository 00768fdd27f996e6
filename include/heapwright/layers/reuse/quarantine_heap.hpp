// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Delays reuse: what is freed waits, filled with a poison, until `Bytes` bytes have been freed
// after it; then it is looked at and goes below. So a pointer that the program still uses points to
// poison and not to somebody's new object, and mistakes end the program with one of these lines:
//
//   heapwright: free(): double free      an object is freed that waits
//   heapwright: free(): use after free   one that waited has been written to; seen when it leaves
//
// Invariants: a waiting object begins with the link to the next, its size, and a seal over both
// and its own address, from a secret of the heap; all the rest is `poison`. An object with a seal
// that holds is waiting. Requests are raised to the room for that, 24 bytes. Objects larger than
// `Bytes` do not wait. When there is no memory below, everything that waits goes there.
// Cost: the fill and the look, one pass over the object each. The seal is after the keys in glibc's
// tcache; the quarantine is that of AddressSanitizer.
//
// Example: QuarantineHeap<256 * KiB, MallocHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/random.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t Bytes, SizedHeap SuperHeap>
    requires AnyOrderHeap<SuperHeap>
class QuarantineHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

    struct Waiting {
        Waiting* next;
        std::size_t size;
        std::uint64_t seal;
    };

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr std::size_t leastObject = sizeof(Waiting);
    static constexpr bool tagged = TagPreservingHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects = ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption =
        "lets freed objects wait, poisoned, before they serve again";
    using Below = Heaps<SuperHeap>;

    /// What a waiting object is filled with; as a pointer it leads nowhere.
    static constexpr unsigned char poison = 0xF5;

    constexpr QuarantineHeap() noexcept = default;
    ~QuarantineHeap() { releaseDownTo(0); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const object = SuperHeap::malloc(raised(size));
        return object == nullptr && releaseDownTo(0) ? SuperHeap::malloc(raised(size)) : object;
    }

    /// What waits is not held for use.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept
        requires HoldingHeap<SuperHeap>
    {
        return SuperHeap::mallocHeld(raised(size));
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept
        requires ZeroingHeap<SuperHeap>
    {
        void* const object = SuperHeap::zalloc(raised(size));
        return object == nullptr && releaseDownTo(0) ? SuperHeap::zalloc(raised(size)) : object;
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept
        requires AlignedHeap<SuperHeap>
    {
        void* const object = SuperHeap::memalign(align, raised(size));
        return object == nullptr && releaseDownTo(0) ? SuperHeap::memalign(align, raised(size))
                                                     : object;
    }

    [[nodiscard]] void* memalignHeld(std::size_t align, std::size_t size) noexcept
        requires AlignedHoldingHeap<SuperHeap>
    {
        return SuperHeap::memalignHeld(align, raised(size));
    }

    void free(void* object) noexcept {
        const std::size_t size = SuperHeap::getSize(object);
        if (isWaiting(object, size)) [[unlikely]] {
            platform::abortWithMessage("free", "double free");
        }
        if (size > Bytes) {
            SuperHeap::free(object);
            return;
        }
        append(object, size);
        releaseDownTo(Bytes);
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept
        requires ResizableHeap<SuperHeap>
    {
        return SuperHeap::resize(object, raised(size));
    }

    /// Only what would not wait: what moves without a free would not be seen.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return SuperHeap::getSize(object) > Bytes ? SuperHeap::relocate(object, raised(size))
                                                  : nullptr;
    }

    /// Ends the wait of all objects, and lets the superheap do the like; true if there was any.
    bool flush() noexcept {
        const bool any = releaseDownTo(0);
        if constexpr (FlushableHeap<SuperHeap>) {
            return SuperHeap::flush() || any;
        } else {
            return any;
        }
    }

    bool trim(std::size_t pad) noexcept
        requires TrimmableHeap<SuperHeap>
    {
        releaseDownTo(0);
        return SuperHeap::trim(pad);
    }

    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        for (const Waiting* node = first_; node != nullptr; node = node->next) {
            check(node);
        }
        first_ = last_ = nullptr;
        bytes_ = count_ = 0;
        secret_ = 0; // what has a seal still may be given out again
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        usage.held += bytes_;
        usage.heldCount += count_;
    }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::getSize;
    using Forwards::owns;

private:
    static constexpr std::size_t raised(std::size_t size) noexcept {
        return size < leastObject ? leastObject : size;
    }

    [[nodiscard]] std::uint64_t sealOf(const Waiting* node) const noexcept {
        const std::uint64_t all = addressOf(node) ^
                                  std::rotl(std::uint64_t{addressOf(node->next)}, 21) ^
                                  std::rotl(std::uint64_t{node->size}, 42);
        return (all ^ secret_) * 0x9E3779B97F4A7C15U;
    }

    [[nodiscard]] bool isSealed(const Waiting* node) const noexcept {
        return node->seal == sealOf(node);
    }

    static bool isPoison(const void* bytes, std::size_t count) noexcept {
        const auto* const byte = static_cast<const unsigned char*>(bytes);
        return count == 0 || (*byte == poison && std::memcmp(byte, byte + 1, count - 1) == 0);
    }

    [[noreturn, gnu::cold, gnu::noinline]] static void refuse() noexcept {
        platform::abortWithMessage("free", "use after free");
    }

    /// That a waiting object is as it was left.
    void check(const Waiting* node) const noexcept {
        if (!isSealed(node) || !isPoison(node + 1, node->size - sizeof(Waiting))) [[unlikely]] {
            refuse();
        }
    }

    /// By its seal. One that has been written over may still end in poison: then all are looked at.
    [[nodiscard]] bool isWaiting(void* object, std::size_t size) const noexcept {
        const Waiting* const node = static_cast<Waiting*>(object);
        constexpr std::size_t word = sizeof(std::uint64_t);
        return first_ != nullptr &&
               (isSealed(node) || (size >= sizeof(Waiting) + word &&
                                   isPoison(forward(object, size - word), word) && isQueued(node)));
    }

    [[nodiscard]] bool isQueued(const Waiting* wanted) const noexcept {
        for (const Waiting* node = first_; node != nullptr; node = node->next) {
            if (node == wanted) {
                return true;
            }
            if (!isSealed(node)) {
                refuse();
            }
        }
        return false;
    }

    void append(void* object, std::size_t size) noexcept {
        if (secret_ == 0) [[unlikely]] {
            secret_ = platform::randomBits() | 1U;
        }
        Waiting* const node = ::new (object) Waiting{nullptr, size, 0};
        node->seal = sealOf(node);
        std::memset(node + 1, poison, size - sizeof(Waiting));
        if (last_ == nullptr) {
            first_ = node;
        } else {
            if (!isSealed(last_)) [[unlikely]] {
                refuse(); // the new seal would hide it
            }
            last_->next = node;
            last_->seal = sealOf(last_);
        }
        last_ = node;
        bytes_ += size;
        ++count_;
    }

    /// Lets the oldest go until no more than so many bytes wait; true if there was any to go.
    bool releaseDownTo(std::size_t most) noexcept {
        bool any = false;
        while (bytes_ > most) {
            Waiting* const node = first_;
            if (node == nullptr) [[unlikely]] {
                refuse(); // a link was cut by an object that went round twice
            }
            check(node);
            first_ = node->next;
            last_ = first_ == nullptr ? nullptr : last_;
            bytes_ -= node->size;
            --count_;
            // Whoever gets this memory next may leave it as it is: no seal, nor poison at its end.
            node->seal = ~node->seal;
            std::memset(forward(node, node->size - sizeof(node->seal)), 0, sizeof(node->seal));
            SuperHeap::free(node);
            any = true;
        }
        return any;
    }

    static_assert(Bytes >= sizeof(Waiting));

    Waiting* first_ = nullptr; ///< the oldest
    Waiting* last_ = nullptr;
    std::size_t bytes_ = 0; ///< the sizes of all that wait, together
    std::size_t count_ = 0;
    std::uint64_t secret_ = 0; ///< not 0 once an object waits
};

} // namespace heapwright

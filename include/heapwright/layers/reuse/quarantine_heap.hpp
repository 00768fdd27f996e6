// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Delays reuse: a freed object is filled with a poison and waits until `Bytes` bytes have been
// freed after it. Then it is checked and goes below. A stale pointer thus points to poison and not
// to a new object. Mistakes end the program with one of these lines:
//
//   heapwright: free(): double free      the object is already waiting
//   heapwright: free(): use after free   a waiting object was written to; found when it leaves
//
// Invariant: A waiting object begins with the link to the next, its size, and a seal over both. The
// seal also covers its own address, and uses a secret of the heap. The rest is `poison`. An object
// with a valid seal is waiting. Requests are raised to the 24 bytes that this takes. Objects larger
// than `Bytes` do not wait. If the heap below has no memory, all waiting objects go there.
// Cost: the fill and the check, one pass over the object each.
// Source: the seal is after the keys in glibc's tcache; the quarantine is that of AddressSanitizer.
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

    /// The fill of a waiting object. As a pointer it is no valid address.
    static constexpr unsigned char poison = 0xF5;

    constexpr QuarantineHeap() noexcept = default;
    ~QuarantineHeap() { releaseDownTo(0); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const object = SuperHeap::malloc(raised(size));
        return object == nullptr && releaseDownTo(0) ? SuperHeap::malloc(raised(size)) : object;
    }

    /// Waiting objects are not available to requests.
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

    /// Only for objects too large to wait, because a move without a free would bypass the
    /// quarantine.
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept
        requires RelocatingHeap<SuperHeap>
    {
        return SuperHeap::getSize(object) > Bytes ? SuperHeap::relocate(object, raised(size))
                                                  : nullptr;
    }

    /// Ends the wait of all objects and flushes the superheap; true if there were any.
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
        secret_ = 0; // a cleared object may still have a seal and be reused
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

    /// Checks that a waiting object is unchanged.
    void check(const Waiting* node) const noexcept {
        if (!isSealed(node) || !isPoison(node + 1, node->size - sizeof(Waiting))) [[unlikely]] {
            refuse();
        }
    }

    /// Recognised by the seal. An object with a damaged seal may still end in poison; then all
    /// waiting objects are compared.
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

    /// Frees the oldest objects until at most `most` bytes wait; true if it freed any.
    bool releaseDownTo(std::size_t most) noexcept {
        bool any = false;
        while (bytes_ > most) {
            Waiting* const node = first_;
            if (node == nullptr) [[unlikely]] {
                refuse(); // an object that was queued twice has cut the list
            }
            check(node);
            first_ = node->next;
            last_ = first_ == nullptr ? nullptr : last_;
            bytes_ -= node->size;
            --count_;
            // Invalidates the seal and the poison at the end, because the next owner of the memory
            // may leave them unchanged.
            node->seal = ~node->seal;
            std::memset(forward(node, node->size - sizeof(node->seal)), 0, sizeof(node->seal));
            SuperHeap::free(node);
            any = true;
        }
        return any;
    }

    static_assert(Bytes >= sizeof(Waiting));

    Waiting* first_ = nullptr; ///< the oldest object
    Waiting* last_ = nullptr;
    std::size_t bytes_ = 0; ///< sum of the sizes of all waiting objects
    std::size_t count_ = 0;
    std::uint64_t secret_ = 0; ///< not 0 once an object waits
};

} // namespace heapwright

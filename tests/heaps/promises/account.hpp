// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The bound on what a heap holds of each size class. An account checks a heap against it during a
// history. The page docs/explanation/granary-promises.md proves it.
//
// In bytes of slots, at any time t, for H heaps, T threads with caches, superblocks of S bytes:
//
//   held(t) <= kappa (most live until t + T C) + H K S
//
// kappa is 1 / (1 - f). Where lines are kept clean, it is the number of slots for each object that
// withholds the others, if that is more. C is the maximum that a thread's cache and its remote
// chain hold of the class.
#pragma once

#include "histories.hpp"
#include "player.hpp"

#include <heapwright/core/address.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace heapwright::testing::promises {

/// How few live objects can withhold all other slots of a superblock. A slot is withheld if it
/// shares a cache line with one of them. Each time the furthest one is chosen that still withholds
/// the first slot which is not yet.
[[nodiscard]] constexpr std::size_t leastWithholding(std::size_t slot, std::size_t count) {
    constexpr std::size_t line = 64;
    std::size_t chosen = 0;
    for (std::size_t first = 0; first < count;) {
        const std::size_t lastLine = (first * slot + slot - 1) / line;
        const std::size_t furthest = std::min((lastLine * line + line - 1) / slot, count - 1);
        const std::size_t itsLast = (furthest * slot + slot - 1) / line;
        first = (itsLast * line + line - 1) / slot + 1;
        ++chosen;
    }
    return chosen;
}

/// What an account came to.
struct Verdict {
    double tightest = 0;  ///< the largest part of its bound that a class has held
    double blowup = 0;    ///< the most held of all classes over the most live
    std::size_t most = 0; ///< the most bytes held, all classes together
    double aside = 0;     ///< the largest part that a class had in caches of what it may have there
    std::size_t left = 0; ///< objects that the heap counts when all are freed
};

/// `Stack` has the parameters of the bound. They are `Classes`, `Rule`, whether lines are `clean`,
/// and `count` of the slots of a class's superblock. `cached` is the maximum of slots that a thread
/// keeps of a class. `Heap` is the type of a new object, or an existing empty heap. `figures` are
/// those of a class.
template <class Stack>
class Account {
    using Heap = typename Stack::Heap;
    using Classes = typename Stack::Classes;
    using Rule = typename Stack::Rule;

public:
    /// Carries out a history, or all of it by one thread. It checks the class of each step, and at
    /// a fixed interval all of them.
    static Verdict carryOut(const Author& author, bool byOne = false) {
        Heap heap;
        Account account(heap);
        play(author, heap, account, byOne);
        return account.settled();
    }

    /// The same, for a comparison with a heap of one thread. It is the maximum of bytes that many
    /// may hold where `alone` hold the given bytes. Of one size class.
    [[nodiscard]] static double boundByOne(std::size_t size, const Verdict& alone) {
        const std::size_t sizeClass = Classes::classFor(size);
        return bound(sizeClass, alone.most / Classes::sizeOf(sizeClass), threads + 1);
    }

    /// How many bytes may be held of a class.
    [[nodiscard]] static double bound(std::size_t sizeClass, std::size_t mostLive,
                                      std::size_t heaps) {
        const auto slot = static_cast<double>(Classes::sizeOf(sizeClass));
        const auto count = static_cast<double>(Stack::count(sizeClass));
        const auto cached = static_cast<double>(threads * Stack::cached(sizeClass));
        return kappas()[sizeClass] * (static_cast<double>(mostLive) + cached) * slot +
               static_cast<double>(heaps * Rule::keptOf(Stack::count(sizeClass))) * count * slot;
    }

private:
    [[nodiscard]] static const std::array<double, Classes::count>& kappas() {
        static const auto all = [] {
            std::array<double, Classes::count> kappas{};
            for (std::size_t each = 0; each < Classes::count; ++each) {
                kappas[each] = static_cast<double>(Rule::denominator) /
                               static_cast<double>(Rule::denominator - Rule::numerator);
                if (Stack::clean) {
                    const auto count = Stack::count(each);
                    const auto least = leastWithholding(Classes::sizeOf(each), count);
                    kappas[each] = std::max(kappas[each], static_cast<double>(count) /
                                                              static_cast<double>(least));
                }
            }
            return kappas;
        }();
        return all;
    }

    friend class Player<Heap, Account>;
    explicit Account(Heap& heap) : heap_(heap) {}

    void taken(const Step& step, const void* /*object*/) {
        const std::size_t sizeClass = Classes::classFor(step.size);
        most_[sizeClass] = std::max(most_[sizeClass], ++live_[sizeClass]);
        liveBytes_ += Classes::sizeOf(sizeClass);
        mostLiveBytes_ = std::max(mostLiveBytes_, liveBytes_);
        note(sizeClass);
    }
    void giving(const Step& /*step*/, const void* /*object*/) {}
    void given(const Step& /*step*/, std::size_t size) {
        const std::size_t sizeClass = Classes::classFor(size);
        --live_[sizeClass];
        liveBytes_ -= Classes::sizeOf(sizeClass);
        note(sizeClass);
    }
    void ended(std::size_t /*thread*/) {}
    void paused() {
        std::size_t held = 0;
        for (std::size_t sizeClass = 0; sizeClass < Classes::count; ++sizeClass) {
            const auto now = Stack::figures(heap_, sizeClass);
            held += (now.held + now.heldGlobal) * Classes::sizeOf(sizeClass);
            note(sizeClass);
        }
        verdict_.most = std::max(verdict_.most, held);
    }

    void note(std::size_t sizeClass) {
        const auto now = Stack::figures(heap_, sizeClass);
        const auto held =
            static_cast<double>((now.held + now.heldGlobal) * Classes::sizeOf(sizeClass));
        const double part = held / bound(sizeClass, most_[sizeClass], now.heaps);
        verdict_.tightest = std::max(verdict_.tightest, part);
        const double most = static_cast<double>(threads * Stack::cached(sizeClass));
        const auto cached = static_cast<double>(now.used - live_[sizeClass]);
        verdict_.aside = std::max(verdict_.aside, most == 0 ? cached * 2 : cached / most);
    }

    Verdict settled() {
        for (std::size_t sizeClass = 0; sizeClass < Classes::count; ++sizeClass) {
            verdict_.left += Stack::figures(heap_, sizeClass).used - live_[sizeClass];
        }
        verdict_.blowup = static_cast<double>(verdict_.most) /
                          static_cast<double>(std::max(mostLiveBytes_, std::size_t{1}));
        return verdict_;
    }

    Heap& heap_;
    std::array<std::size_t, Classes::count> live_{};
    std::array<std::size_t, Classes::count> most_{};
    std::size_t liveBytes_ = 0;
    std::size_t mostLiveBytes_ = 0;
    Verdict verdict_;
};

} // namespace heapwright::testing::promises

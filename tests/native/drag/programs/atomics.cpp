// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Four threads count in atomic variables of each size, in one object: by every operation that there
// is. The status has their result. The object is used to the end, and another is not.
#include <array>
#include <atomic>
#include <cstdint>
#include <new>
#include <thread>

namespace {

constexpr int threads = 4;
constexpr int turns = 1000;

void* volatile unused = nullptr;

struct Counters {
    std::atomic<std::uint8_t> byte{0};
    std::atomic<std::uint16_t> half{0};
    std::atomic<std::uint32_t> word{0};
    std::atomic<std::uint64_t> sum{0};
    std::atomic<std::uint64_t> tried{0};
    std::atomic<std::uint32_t> bits{0};
    std::atomic<bool> lock{false};
    std::uint64_t guarded = 0;
};

void count(Counters& all, int thread) {
    for (int i = 0; i < turns; ++i) {
        ++all.byte;
        all.half.fetch_add(2, std::memory_order_relaxed);
        all.word.fetch_sub(1, std::memory_order_release);
        all.sum += 3;
        std::uint64_t seen = all.tried.load(std::memory_order_acquire);
        while (!all.tried.compare_exchange_weak(seen, seen + 1)) {
        }
        all.bits.fetch_xor(1U << thread);
        while (all.lock.exchange(true, std::memory_order_acquire)) {
            std::this_thread::yield();
        }
        all.guarded += 1;
        all.lock.store(false, std::memory_order_release);
    }
    all.bits |= 1U << thread;
}

} // namespace

int main() {
    unused = ::operator new(500);
    auto* const all = new Counters;
    {
        std::array<std::thread, threads> others;
        for (int i = 0; i < threads; ++i) {
            others.at(static_cast<std::size_t>(i)) = std::thread(count, std::ref(*all), i);
        }
        for (auto& each : others) {
            each.join();
        }
    }
    constexpr auto total = std::uint64_t{threads} * turns;
    std::uint64_t expected = total;
    const bool right = all->byte == total % 256 && all->half == 2 * total &&
                       all->word == 0U - static_cast<std::uint32_t>(total) &&
                       all->sum == 3 * total && all->bits == 15 && all->guarded == total &&
                       all->tried.compare_exchange_strong(expected, 1) &&
                       all->bits.fetch_and(3) == 15 && all->bits.fetch_or(4) == 3;
    delete all;
    ::operator delete(unused);
    return right ? 0 : 1;
}

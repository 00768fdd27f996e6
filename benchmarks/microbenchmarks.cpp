// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Times of malloc+free pairs under each composition as an object, and under the C library's malloc,
// for developers of a layer. Times depend on the machine and its state. Requirements are therefore
// stated in instructions (instruction_counts.py), and whole programs are compared by `heapwright
// compare`.
#include <heapwright/allocators/kingsley.hpp>
#include <heapwright/allocators/kingsley_coalescing.hpp>
#include <heapwright/allocators/lea.hpp>
#include <heapwright/core/immortal.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace {

using namespace heapwright::allocators;

struct CLibrary {
    void* malloc(std::size_t size) noexcept { return std::malloc(size); }
    void free(void* object) noexcept { std::free(object); }
};

template <class Allocator>
Allocator& instance() {
    static constinit heapwright::Immortal<Allocator> heap;
    return heap.object;
}

/// One size, last in, first out.
template <class Allocator>
void pairs(benchmark::State& state) {
    Allocator& heap = instance<Allocator>();
    const auto size = static_cast<std::size_t>(state.range(0));
    for ([[maybe_unused]] auto _ : state) {
        void* object = heap.malloc(size);
        benchmark::DoNotOptimize(object);
        heap.free(object);
    }
    state.SetItemsProcessed(state.iterations());
}

/// A thousand live objects of mixed sizes. Each in turn is replaced by one of another size.
template <class Allocator>
void churn(benchmark::State& state) {
    Allocator& heap = instance<Allocator>();
    std::array<void*, 1000> objects{};
    std::uint32_t random = 2002;
    for ([[maybe_unused]] auto _ : state) {
        random = random * 1664525U + 1013904223U;
        void*& slot = objects[(random >> 8U) % objects.size()];
        if (slot != nullptr) {
            heap.free(slot);
        }
        slot = heap.malloc(1 + (random >> 16U) % (random >> 30U == 0 ? 4096U : 128U));
        benchmark::DoNotOptimize(slot);
    }
    for (void* object : objects) {
        if (object != nullptr) {
            heap.free(object);
        }
    }
    state.SetItemsProcessed(state.iterations());
}

} // namespace

BENCHMARK_TEMPLATE(pairs, CLibrary)->Arg(64)->Arg(4096);
BENCHMARK_TEMPLATE(pairs, Kingsley)->Arg(64)->Arg(4096);
BENCHMARK_TEMPLATE(pairs, KingsleyCoalescing)->Arg(64)->Arg(4096);
BENCHMARK_TEMPLATE(pairs, Lea)->Arg(64)->Arg(4096);
BENCHMARK_TEMPLATE(churn, CLibrary);
BENCHMARK_TEMPLATE(churn, Kingsley);
BENCHMARK_TEMPLATE(churn, KingsleyCoalescing);
BENCHMARK_TEMPLATE(churn, Lea);
BENCHMARK_MAIN();

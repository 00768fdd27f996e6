// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/allocators/winxp_heaps.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace heapwright::testing {
namespace {

/// A source that counts its live blocks.
class Counted {
public:
    static constexpr std::size_t alignment = minAlignment;
    using Below = Heaps<>;

    void* malloc(std::size_t size) noexcept {
        ++live;
        return std::malloc(size);
    }
    void free(void* block) noexcept {
        --live;
        std::free(block);
    }

    static inline int live = 0;
};

TEST(WinXpHeap, ManyHeapsAreIndependent) {
    {
        std::vector<allocators::WinXpHeap<Counted>> heaps(10);
        for (int round = 0; round < 2; ++round) {
            for (auto& heap : heaps) {
                for (std::size_t size = 1; size < 500; ++size) {
                    void* const object = heap.malloc(size);
                    ASSERT_NE(object, nullptr);
                    std::memset(object, 1, size);
                    if (size % 3 == 0) {
                        heap.free(object);
                    }
                }
            }
            EXPECT_GE(Counted::live, 10);
            const int before = Counted::live;
            heaps[3].clear();
            EXPECT_LT(Counted::live, before);
        }
    }
    EXPECT_EQ(Counted::live, 0);
}

} // namespace
} // namespace heapwright::testing

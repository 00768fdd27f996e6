// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/object/ansi_wrapper.hpp>
#include <heapwright/layers/thread/handler_safe_heap.hpp>
#include <heapwright/structure/object/object_chain.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <set>

namespace heapwright::testing {
namespace {

constexpr std::size_t unit = 4 * KiB;
constexpr std::size_t objectBytes = 64;

struct ListState {
    ObjectLink* head = nullptr;
    std::uint64_t me = ~std::uint64_t{0};
};

/// One thread's list of objects of 64 bytes, in units of its own, over nothing. It notes what goes
/// by its slow verbs, and can call back from inside one, as a signal handler would.
class ListHeap {
public:
    using ThreadState = ListState;
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool splitPath = true;
    static constexpr std::size_t unitBytes = unit;
    [[maybe_unused]] static constexpr std::string_view caption = "a list";
    using Below = Heaps<>;

    [[nodiscard]] static ThreadState& threadState() noexcept { return state; }

    [[nodiscard]] static void* tryMallocFast(std::size_t size) noexcept {
        if (size - 1 >= objectBytes || state.head == nullptr) {
            return nullptr;
        }
        ObjectLink* const object = state.head;
        state.head = object->next;
        return object;
    }
    [[nodiscard]] static bool tryFreeFast(void* object) noexcept {
        if (object == nullptr || home(object) != state.me) {
            return false;
        }
        state.head = ::new (object) ObjectLink{state.head};
        return true;
    }

    [[nodiscard]] static void* malloc(std::size_t size) noexcept {
        void* const object = tryMallocFast(size);
        return object != nullptr ? object : mallocSlow(size);
    }
    static void free(void* object) noexcept {
        if (!tryFreeFast(object)) {
            freeSlow(object);
        }
    }
    [[nodiscard]] static void* mallocSlow(std::size_t /*size*/) noexcept {
        ++slowRequests;
        if (interruption != nullptr) {
            void (*const handler)() = interruption;
            interruption = nullptr;
            handler();
        }
        state.me = mine;
        if (next_ + objectBytes > memory.size()) {
            return nullptr;
        }
        void* const object = memory.data() + next_;
        next_ += objectBytes;
        next_ += next_ % unit == 0 ? objectBytes : 0; // the first of a unit is the allocator's
        const std::uint64_t word = mine;
        std::memcpy(memory.data() + roundDown(next_ - 1, unit), &word, sizeof word);
        return object;
    }
    static void freeSlow(void* object) noexcept { slowFrees.insert(object); }
    [[nodiscard]] static void* memalign(std::size_t /*align*/, std::size_t size) noexcept {
        return malloc(size);
    }
    [[nodiscard]] static std::size_t getSize(void* /*object*/) noexcept { return objectBytes; }
    static void beforeFork() noexcept { ++forks; }
    static void afterForkInParent() noexcept { --forks; }
    static void afterForkInChild() noexcept { --forks; }

    static void begin() {
        state = {};
        std::memset(memory.data(), 0, memory.size());
        next_ = objectBytes;
        slowRequests = 0;
        slowFrees.clear();
        interruption = nullptr;
        forks = 0;
    }

    static constexpr std::uint64_t mine = 42;
    static inline constinit ThreadState state{};
    static inline int slowRequests = 0;
    static inline int forks = 0;
    static inline std::set<void*> slowFrees;
    static inline void (*interruption)() = nullptr;

private:
    static std::uint64_t home(const void* object) noexcept {
        std::uint64_t word = 0;
        std::memcpy(&word, pointerTo(roundDown(addressOf(object) - 1, unit)), sizeof word);
        return word;
    }
    alignas(unit) static inline constinit std::array<unsigned char, 4 * unit> memory{};
    static inline std::size_t next_ = 0;
};

using Safe = ANSIWrapper<HandlerSafeHeap<ListHeap>>;
static_assert(SplitPathHeap<HandlerSafeHeap<ListHeap>> && SplitPathHeap<Safe>);
constinit Safe* heap = nullptr;
void* fromInside = nullptr;
void* toFree = nullptr;

class HandlerSafeHeapTest : public ::testing::Test {
protected:
    void SetUp() override {
        ListHeap::begin();
        heap = &heap_;
    }

    /// Runs `handler` as a signal's that interrupted this thread in its use of the list.
    template <class Handler>
    static void asHandler(Handler handler) {
        const Address here = addressOf(__builtin_frame_address(0));
        const auto before = Safe::beforeHandler(StackPart::below(here, 0), here);
        handler();
        Safe::afterHandler(before);
    }
    Safe heap_;
};

TEST_F(HandlerSafeHeapTest, CachedRequestsSkipTheSlowPath) {
    void* const object = heap_.malloc(50);
    heap_.free(object);
    EXPECT_EQ(heap_.malloc(50), object);
    heap_.free(object);
    EXPECT_EQ(ListHeap::slowRequests, 1);
    EXPECT_TRUE(ListHeap::slowFrees.empty());
}

TEST_F(HandlerSafeHeapTest, AppliesTheCRulesToRefusedRequests) {
    EXPECT_EQ(heap_.malloc(std::size_t{PTRDIFF_MAX} + 1), nullptr);
    EXPECT_EQ(ListHeap::slowRequests, 0) << "nobody below was asked";
    heap_.free(nullptr);
    EXPECT_TRUE(ListHeap::slowFrees.empty());
    void* const nothing = heap_.malloc(0);
    EXPECT_NE(nothing, nullptr);
    heap_.free(nothing);
    std::memset(nothing, 0xFF, objectBytes);
    auto* const cleared = static_cast<unsigned char*>(heap_.calloc(8, 8));
    ASSERT_EQ(cleared, nothing);
    EXPECT_TRUE(cleared[0] == 0 && cleared[63] == 0);
    EXPECT_EQ(heap_.calloc(PTRDIFF_MAX, 3), nullptr);
    heap_.free(cleared);
}

TEST_F(HandlerSafeHeapTest, ServesASignalHandlerFromTheArena) {
    void* const listed = heap_.malloc(50);
    heap_.free(listed);
    const ObjectLink* const head = ListHeap::state.head;
    void* inHandler = nullptr;
    asHandler([this, &inHandler] {
        inHandler = heap_.malloc(50);
        std::memset(inHandler, 0xFF, 50);
        void* const zeros = heap_.calloc(1, 100);
        EXPECT_EQ(static_cast<char*>(zeros)[99], 0);
        heap_.free(zeros);
        inHandler = heap_.realloc(inHandler, 300);
        EXPECT_EQ(static_cast<unsigned char*>(inHandler)[49], 0xFF);
    });
    EXPECT_NE(inHandler, listed);
    EXPECT_EQ(ListHeap::state.head, head);
    EXPECT_EQ(ListHeap::slowRequests, 1);
    EXPECT_GE(heap_.getSize(inHandler), 300U);
    heap_.free(inHandler);
    EXPECT_EQ(ListHeap::state.head, head) << "it went back to where it was from";
}

TEST_F(HandlerSafeHeapTest, DefersFreesOfAHandlerToTheNextSlowRequest) {
    void* const object = heap_.malloc(50);
    asHandler([this, object] { heap_.free(object); });
    EXPECT_EQ(ListHeap::state.head, nullptr);
    void* const next = heap_.malloc(50);
    EXPECT_TRUE(ListHeap::state.head != nullptr || next == object) << "now it is back";
}

TEST_F(HandlerSafeHeapTest, ServesARequestThatInterruptsASlowPathFromTheArena) {
    toFree = heap_.malloc(64);
    ListHeap::interruption = [] {
        EXPECT_TRUE(Safe::inRequest());
        fromInside = heap->malloc(100);
        heap->free(toFree);
        EXPECT_EQ(ListHeap::slowRequests, 2) << "the two that were no handler's";
    };
    void* const object = heap_.malloc(64);
    EXPECT_NE(object, toFree) << "not yet free when it was asked for";
    EXPECT_FALSE(Safe::inRequest());
    EXPECT_GE(heap_.getSize(fromInside), 100U);
    heap_.free(fromInside);
}

TEST_F(HandlerSafeHeapTest, NoticesAHandlerThatDidNotReturn) {
    void* const object = heap_.malloc(50);
    heap_.free(object);
    // As if a handler further down the stack had left by siglongjmp.
    const Address far = addressOf(__builtin_frame_address(0)) - 64 * KiB;
    static_cast<void>(Safe::beforeHandler(StackPart{far - 64, far}, far));
    EXPECT_TRUE(Safe::inRequest());
    EXPECT_EQ(ListHeap::state.head, nullptr);
    void* const again = heap_.malloc(objectBytes + 1); // a slow request, which asks
    EXPECT_FALSE(Safe::inRequest());
    EXPECT_EQ(static_cast<void*>(ListHeap::state.head), object);
    EXPECT_EQ(heap_.malloc(50), object);
    heap_.free(object);
    heap_.free(again);
}

TEST_F(HandlerSafeHeapTest, CountsAsInsideDuringAFork) {
    heap_.beforeFork();
    EXPECT_EQ(ListHeap::forks, 1);
    void* const object = heap_.malloc(10);
    EXPECT_EQ(ListHeap::slowRequests, 0) << "the heap below is not entered";
    heap_.afterForkInChild();
    EXPECT_EQ(ListHeap::forks, 0);
    heap_.free(object);
    heap_.free(heap_.malloc(10));
    EXPECT_EQ(ListHeap::slowRequests, 1);
}

TEST_F(HandlerSafeHeapTest, ForkInAHandlerHoldsTheHeapUnlessASlowPathDoes) {
    asHandler([this] {
        heap_.beforeFork();
        EXPECT_EQ(ListHeap::forks, 1) << "what is done at once holds no lock";
        heap_.afterForkInParent();
    });
    EXPECT_EQ(ListHeap::forks, 0);
    ListHeap::interruption = [] {
        heap->beforeFork();
        EXPECT_EQ(ListHeap::forks, 0);
        heap->afterForkInParent();
        EXPECT_TRUE(Safe::inRequest()) << "as it was before";
    };
    heap_.free(heap_.malloc(10));
    EXPECT_EQ(ListHeap::forks, 0);
}

} // namespace
} // namespace heapwright::testing

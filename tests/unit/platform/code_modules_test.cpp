// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/platform/code_modules.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <set>

namespace heapwright::platform {
namespace {

TEST(CodeModules, VisitsEachLoadedObjectOnce) {
    Dl_info own{};
    ASSERT_NE(
        ::dladdr(reinterpret_cast<void*>(&forEachModule<void (*)(const LoadedModule&)>), &own), 0);
    std::multiset<Address> biases;
    errno = 7;
    forEachModule([&biases](const LoadedModule& loaded) { biases.insert(loaded.bias); });
    EXPECT_EQ(errno, 7);
    EXPECT_GT(biases.size(), 2U) << "the program, the C library and the dynamic linker";
    EXPECT_EQ(biases.count(addressOf(own.dli_fbase)), 1U) << "a position-independent program";
}

/// A note as it is in a file.
template <std::size_t Bytes>
struct Note {
    ElfW(Nhdr) head;
    std::array<char, 4> name;
    std::array<std::uint8_t, Bytes> text;
};

TEST(CodeModules, FindsTheBuildIdBehindOtherNotes) {
    struct {
        Note<8> other{{4, 8, NT_GNU_ABI_TAG}, {'G', 'N', 'U'}, {}};
        Note<4> id{{4, 4, NT_GNU_BUILD_ID}, {'G', 'N', 'U'}, {1, 2, 3, 0xFF}};
    } notes;
    const auto found = detail::buildIdIn(addressOf(&notes), sizeof notes, 4);
    ASSERT_EQ(found.size(), 4U);
    EXPECT_EQ(found[0], 1);
    EXPECT_EQ(found[3], 0xFF);
    EXPECT_TRUE(detail::buildIdIn(addressOf(&notes), sizeof notes.other, 4).empty());
}

TEST(CodeModules, IgnoresANoteThatIsLongerThanItsSegment) {
    Note<4> id{{4, 4, NT_GNU_BUILD_ID}, {'G', 'N', 'U'}, {1, 2, 3, 4}};
    EXPECT_TRUE(detail::buildIdIn(addressOf(&id), sizeof id - 1, 4).empty());
    EXPECT_TRUE(detail::buildIdIn(addressOf(&id), 4, 4).empty());
    EXPECT_TRUE(detail::buildIdIn(addressOf(&id), 0, 4).empty());
}

} // namespace
} // namespace heapwright::platform

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/area/chunk_stack.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace heapwright::testing {
namespace {

struct alignas(minAlignment) Memory {
    std::byte bytes[256];
};

TEST(ChunkStack, ReturnsTheNewestChunkFirst) {
    Memory first;
    Memory second;
    ChunkStack chunks;
    EXPECT_EQ(chunks.top(), nullptr);
    chunks.push(&first, sizeof first);
    chunks.push(&second, sizeof second);
    EXPECT_EQ(static_cast<void*>(chunks.pop()), &second);
    EXPECT_EQ(static_cast<void*>(chunks.pop()), &first);
    EXPECT_EQ(chunks.top(), nullptr);
}

TEST(ChunkStack, ReturnsAllChunksInOneStep) {
    Memory memory[3];
    ChunkStack chunks;
    for (Memory& one : memory) {
        chunks.push(&one, sizeof one);
    }
    std::vector<void*> released;
    chunks.popAll([&](void* chunk) { released.push_back(chunk); });
    EXPECT_EQ(released, (std::vector<void*>{&memory[2], &memory[1], &memory[0]}));
    EXPECT_EQ(chunks.top(), nullptr);
}

TEST(ChunkStack, OwnsAddressesBehindTheHeadersOfItsChunks) {
    Memory first{};
    Memory second{};
    Memory stranger{};
    ChunkStack chunks;
    EXPECT_FALSE(chunks.owns(first.bytes + 100));
    chunks.push(&first, sizeof first);
    chunks.push(&second, sizeof second);
    EXPECT_TRUE(chunks.owns(first.bytes + ChunkStack::overhead));
    EXPECT_TRUE(chunks.owns(second.bytes + 255));
    EXPECT_FALSE(chunks.owns(stranger.bytes + 100));
    EXPECT_FALSE(chunks.owns(first.bytes + 8)); // the header has no owner
    EXPECT_EQ(chunks.top()->first(), addressOf(second.bytes + ChunkStack::overhead));
    EXPECT_EQ(chunks.top()->end, addressOf(&second) + sizeof second);
}

} // namespace
} // namespace heapwright::testing

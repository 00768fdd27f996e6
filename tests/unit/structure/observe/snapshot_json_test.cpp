// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/snapshot_json.hpp>

#include <support/some_snapshot.hpp>

#include <gtest/gtest.h>

#include <string>

namespace heapwright::testing {
namespace {

template <std::size_t Room = 4096>
std::string jsonOf(const HeapSnapshot& snapshot) {
    FixedText<Room> text;
    SnapshotJson<FixedText<Room>>(snapshot, text).writeFields();
    return std::string(text.view());
}

TEST(SnapshotJson, HasAFieldForEachFigure) {
    const std::string expected =
        R"("live":{"objects":8,"bytes":1048688},"cached":{"objects":3,"bytes":48},)"
        R"("free":{"objects":40,"bytes":640},"superblock_bytes":65536,"heaps":2,)"
        R"("classes":[{"class":0,"size":16,"live":7,"cached":3,"free":40,"superblocks":1,)"
        R"("held_bytes":65536,"returned_superblocks":4}],)"
        R"("large":{"objects":1,"bytes":1048576,"direct_objects":0,"direct_bytes":0},)"
        R"("caches":{"threads":2,"all":{"objects":2,"bytes":32,"remote_objects":1,)"
        R"("remote_bytes":16,"refills":10,"flushes":8},)"
        R"("each":[{"thread":0,"objects":2,"bytes":32,"remote_objects":1,"remote_bytes":16,)"
        R"("refills":9,"flushes":8},{"thread":3,"objects":0,"bytes":0,"remote_objects":0,)"
        R"("remote_bytes":0,"refills":1,"flushes":0}]},)"
        R"("chunks":{"count":1,"bytes":4194304,"used_bytes":2097152,"dirty_bytes":1572864,)"
        R"("clean_bytes":524288},)"
        R"("system":{"mapped_bytes":6291456,"maps":3,"mapped_bytes_ever":8388608,"unmaps":1,)"
        R"("unmapped_bytes_ever":2097152,"purges":5,"purged_bytes_ever":655360,"moves":7},)"
        R"("locks":{"heaps":{"takes":100,"waits":2},"shared":{"takes":10,"waits":1},)"
        R"("chunks":{"takes":5,"waits":0}})";
    EXPECT_EQ(jsonOf(someSnapshot()), expected);
}

TEST(SnapshotJson, HasListsEvenIfTheyAreEmpty) {
    const std::string none = jsonOf(HeapSnapshot());
    EXPECT_NE(none.find(R"("classes":[])"), std::string::npos);
    EXPECT_NE(none.find(R"("each":[])"), std::string::npos);
}

TEST(SnapshotJson, QuotesTexts) {
    FixedText<64> text;
    putJsonText(text, "a \"b\" \\ \n\x80");
    EXPECT_EQ(text.view(), R"("a \"b\" \\ ??")");
}

TEST(SnapshotJson, LeavesRoomForAllPlacesInAPageOrTen) {
    HeapSnapshot most;
    for (std::size_t at = 0; at < HeapSnapshot::mostClasses; ++at) {
        most.sizeClass(at, 16384) = {.size = 16384,
                                     .used = 4'000'000'000,
                                     .cached = 100'000'000,
                                     .held = 5'000'000'000,
                                     .heldGlobal = 0,
                                     .blocks = 2'000'000,
                                     .returned = 1'000'000'000};
    }
    for (std::uint32_t at = 0; at < 2 * HeapSnapshot::mostCaches; ++at) {
        most.addCache({.thread = at,
                       .objects = 100'000,
                       .bytes = 100'000'000,
                       .remoteObjects = 100'000,
                       .remoteBytes = 100'000'000,
                       .refills = 1'000'000'000'000,
                       .flushes = 1'000'000'000'000});
    }
    EXPECT_LT(jsonOf<100'000>(most).size(), 48 * KiB);
}

} // namespace
} // namespace heapwright::testing

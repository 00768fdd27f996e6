// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/observe/snapshot_table.hpp>

#include <support/some_snapshot.hpp>

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace heapwright::testing {
namespace {

template <std::size_t Room = 4096>
std::string tableOf(const HeapSnapshot& snapshot) {
    FixedText<Room> text;
    SnapshotTable<FixedText<Room>>(snapshot, text).write();
    return std::string(text.view());
}

TEST(SnapshotTable, ShowsTotalsClassesAndCaches) {
    EXPECT_EQ(tableOf(someSnapshot()),
              R"(  live         1.0 MiB in 8 objects, 1.0 MiB of it in 1 large
  cached       48 B in 3 objects of 2 threads
  free         640 B in superblocks of 2 heaps
  chunks       4.0 MiB in 1, of it free 1.5 MiB + 512.0 KiB returned
  from system  6.0 MiB of addresses
  calls        3 maps 8.0 MiB, 1 unmaps 2.0 MiB
               5 purges 640.0 KiB, 7 moves
  heap locks   taken 100 times, waited for 2
  shared lock  taken 10 times, waited for 1
  chunks' lock taken 5 times, waited for 0

   size       live   cached      free       held  returned
     16          7        3        40   64.0 KiB         4

 thread    cached      bytes   away      bytes    refills   flushes
      0         2       32 B      1       16 B          9         8
      3         0        0 B      0        0 B          1         0
    all         2       32 B      1       16 B         10         8
)");
}

TEST(SnapshotTable, FitsANarrowTerminal) {
    HeapSnapshot most = someSnapshot();
    most.classes[0] = {.size = 16384,
                       .used = 4'000'000'000,
                       .cached = 100'000'000,
                       .held = 5'000'000'000,
                       .heldGlobal = 0,
                       .blocks = 2'000'000,
                       .returned = 1'000'000'000};
    std::istringstream lines(tableOf(most));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 80U) << line;
    }
}

TEST(SnapshotTable, IsShortWhereNothingHasHappened) {
    const std::string table = tableOf(HeapSnapshot());
    EXPECT_NE(table.find("live         0 B in 0 objects"), std::string::npos);
    EXPECT_EQ(table.find("thread"), table.find("threads"));
    EXPECT_EQ(table.substr(table.size() - 9), "returned\n");
}

TEST(SnapshotTable, IsCutWhereThereIsNoRoom) {
    EXPECT_EQ(tableOf<20>(someSnapshot()), tableOf(someSnapshot()).substr(0, 20));
}

} // namespace
} // namespace heapwright::testing

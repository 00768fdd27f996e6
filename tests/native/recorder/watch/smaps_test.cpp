// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "recorder/watch/smaps.hpp"

#include <gtest/gtest.h>

namespace heapwright::recorder::watch {
namespace {

constexpr const char* text =
    R"(55d0c0a00000-55d0c0a02000 r-xp 00000000 fe:00 1234           /usr/bin/a program
Size:                  8 kB
Rss:                   8 kB
VmFlags: rd ex mr mw me
55d0c0a02000-55d0c0a03000 rw-p 00002000 fe:00 1234           /usr/bin/a program
Size:                  4 kB
Rss:                   4 kB
55d0c1000000-55d0c1021000 rw-p 00000000 00:00 0              [heap]
Size:                132 kB
Rss:                  20 kB
LazyFree:              8 kB
7f0000000000-7f0000021000 rw-p 00000000 00:00 0
Rss:                  12 kB
7f0000021000-7f0004000000 ---p 00000000 00:00 0
Rss:                   0 kB
7f1000000000-7f1000010000 rw-s 00000000 fe:00 77             /tmp/the trace
Rss:                  64 kB
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0              [stack]
Rss:                  16 kB
)";

trace::SystemSample parsed(const std::string& from) {
    trace::SystemSample sample;
    SmapsParser("fe:00", 77).parse(from, sample);
    return sample;
}

TEST(Smaps, ListsWritableMappingsAndSumsTheRest) {
    const trace::SystemSample sample = parsed(text);
    const std::vector<trace::SystemMapping> expected = {
        {0x55d0c0a02000, 0x55d0c0a03000, 4 << 10, false},
        {0x55d0c1000000, 0x55d0c1021000, 20 << 10, true},
        {0x7f0000000000, 0x7f0000021000, 12 << 10, false},
    };
    EXPECT_EQ(sample.mappings, expected);
    EXPECT_EQ(sample.fixed, 8U << 10);
    EXPECT_EQ(sample.stack, 16U << 10);
    EXPECT_EQ(sample.trace, 64U << 10);
    EXPECT_EQ(sample.lazy, 8U << 10);
    EXPECT_EQ(sample.resident(), (8U + 16 + 4 + 20 + 12) << 10) << "without the trace";
}

TEST(Smaps, LibrariesOfTheRecorderAreNotTheProgramsMemory) {
    const trace::SystemSample sample =
        parsed("7f1000000000-7f1000010000 r-xp 00000000 fe:00 5    /opt/libheapwright-recorder.so\n"
               "Rss:                  40 kB\n"
               "7f1000010000-7f1000011000 rw-p 00010000 fe:00 5    /opt/libheapwright-recorder.so\n"
               "Rss:                   4 kB\n"
               "7f1000020000-7f1000021000 rw-p 00000000 fe:00 6    /opt/libheapwright-granary.so\n"
               "Rss:                   8 kB\n");
    EXPECT_EQ(sample.trace, 44U << 10);
    EXPECT_EQ(sample.fixed, 0U);
    EXPECT_EQ(sample.mappings.size(), 1U) << "an allocator is the program's";
}

TEST(Smaps, FilesWithCodeAreNamedOnce) {
    trace::SystemSample sample;
    SmapsParser parser("fe:00", 77);
    parser.parse(text, sample);
    EXPECT_EQ(parser.objects(), "/usr/bin/a program\n");
}

TEST(Smaps, NothingIsKeptFromTheTextBefore) {
    trace::SystemSample sample;
    SmapsParser parser("fe:00", 77);
    parser.parse(text, sample);
    parser.parse("", sample);
    EXPECT_TRUE(sample.mappings.empty());
    EXPECT_EQ(sample.resident(), 0U);
    EXPECT_EQ(parser.objects(), "");
}

TEST(Smaps, ATextThatIsCutAnywhereIsReadUpToThere) {
    const std::string whole = text;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        const trace::SystemSample sample = parsed(whole.substr(0, length));
        EXPECT_LE(sample.mappings.size(), 4U); // a line without its name
        EXPECT_LE(sample.resident(), 60U << 10);
    }
}

} // namespace
} // namespace heapwright::recorder::watch

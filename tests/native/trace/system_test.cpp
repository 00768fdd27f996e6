// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is written of the system's view is read again; what is lost or damaged costs only itself.
#include "trace/system.hpp"

#include <gtest/gtest.h>
#include <random>

namespace heapwright::trace {
namespace {

std::span<const std::byte> asBytes(const std::string& text) {
    return std::as_bytes(std::span(text));
}

SystemSample randomSample(std::mt19937_64& random, std::uint64_t time) {
    SystemSample sample;
    sample.time = time;
    sample.fixed = random() % 5000 * 1024;
    sample.stack = random() % 50 * 1024;
    std::uint64_t at = 0x5555'0000'0000;
    for (std::uint64_t i = random() % 30; i > 0; --i) {
        at += random() % 3 * 4096 * (1 + random() % 4000);
        const std::uint64_t length = (1 + random() % 64) * 4096;
        sample.mappings.push_back({at, at + length, random() % 2 * (length / 2), i % 7 == 0});
        at += length;
    }
    return sample;
}

/// Some of it as it was, some changed, gone or new.
SystemSample changed(const SystemSample& before, std::mt19937_64& random, std::uint64_t time) {
    SystemSample sample = before;
    sample.time = time;
    std::erase_if(sample.mappings, [&](const SystemMapping&) { return random() % 8 == 0; });
    for (SystemMapping& mapping : sample.mappings) {
        if (random() % 4 == 0) {
            mapping.resident += 4096;
        }
    }
    if (random() % 3 == 0) {
        const std::uint64_t end = sample.mappings.empty() ? 0 : sample.mappings.back().end;
        sample.mappings.push_back({end, end + 8192, 4096, false});
    }
    return sample;
}

void expectSame(const SystemSample& read, const SystemSample& written) {
    EXPECT_EQ(read.time, written.time);
    EXPECT_EQ(read.fixed, written.fixed);
    EXPECT_EQ(read.stack, written.stack);
    EXPECT_EQ(read.mappings, written.mappings);
    EXPECT_EQ(read.resident(), written.resident());
}

TEST(System, ReadsItsOwnRecords) {
    std::mt19937_64 random(1);
    SystemEncoder encoder;
    SystemDecoder decoder;
    SystemSample sample = randomSample(random, 1);
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const bool complete = i % 50 == 0;
        sample = i % 97 == 0 ? randomSample(random, i) : changed(sample, random, i);
        const std::string bytes = encoder.encode(sample, complete);
        ASSERT_TRUE(decoder.take(complete ? record::systemComplete : record::systemChanges,
                                 asBytes(bytes)));
        expectSame(decoder.sample(), sample);
    }
    EXPECT_EQ(decoder.damaged(), 0U);
}

TEST(System, AProcessThatStandsStillCostsFewBytes) {
    std::mt19937_64 random(2);
    SystemEncoder encoder;
    SystemSample sample = randomSample(random, 1'000'000'000);
    encoder.encode(sample, true);
    sample.time += 10'000'000;
    EXPECT_LE(encoder.encode(sample, false).size(), 24U);
}

TEST(System, ChangesToALostSampleAreNotTaken) {
    std::mt19937_64 random(3);
    SystemEncoder encoder;
    SystemDecoder decoder;
    const SystemSample first = randomSample(random, 1);
    const SystemSample third = changed(first, random, 3);
    const std::string complete = encoder.encode(first, true);
    const std::string lost = encoder.encode(changed(first, random, 2), false);
    const std::string behind = encoder.encode(third, false);
    const std::string again = encoder.encode(third, true);
    EXPECT_FALSE(decoder.take(record::systemChanges, asBytes(lost))) << "nothing before it";
    EXPECT_TRUE(decoder.take(record::systemComplete, asBytes(complete)));
    EXPECT_FALSE(decoder.take(record::systemChanges, asBytes(behind)));
    EXPECT_TRUE(decoder.take(record::systemComplete, asBytes(again)));
    expectSame(decoder.sample(), third);
}

TEST(System, DamagedBytesAreCountedAndMappingsStayInOrder) {
    std::mt19937_64 random(4);
    std::uint64_t damaged = 0;
    for (unsigned round = 0; round < 3000; ++round) {
        SystemEncoder encoder;
        SystemDecoder decoder;
        const SystemSample sample = randomSample(random, 1);
        std::string first = encoder.encode(sample, true);
        std::string second = encoder.encode(changed(sample, random, 2), false);
        std::string& victim = round % 2 == 0 ? first : second;
        for (unsigned flips = 1 + random() % 4; flips > 0; --flips) {
            victim[random() % victim.size()] ^= static_cast<char>(1U << random() % 8);
        }
        victim.resize(victim.size() - random() % victim.size() / 2);
        decoder.take(record::systemComplete, asBytes(first));
        decoder.take(record::systemChanges, asBytes(second));
        std::uint64_t end = 0;
        for (const SystemMapping& mapping : decoder.sample().mappings) {
            ASSERT_LE(end, mapping.begin);
            ASSERT_LE(mapping.begin, mapping.end);
            end = mapping.end;
        }
        damaged += decoder.damaged();
    }
    EXPECT_GT(damaged, 500U);
}

TEST(System, ObjectsAreKeptUntilSaidAnew) {
    SystemDecoder decoder;
    EXPECT_FALSE(decoder.take(record::systemObjects, asBytes(std::string("/usr/lib/a.so\n"))));
    EXPECT_EQ(decoder.objects(), "/usr/lib/a.so\n");
    EXPECT_FALSE(decoder.take(99, asBytes(std::string("of a later version"))));
    EXPECT_EQ(decoder.objects(), "/usr/lib/a.so\n");
    EXPECT_EQ(decoder.damaged(), 0U);
}

} // namespace
} // namespace heapwright::trace

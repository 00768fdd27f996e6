// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads a load: words and numbers between blanks. Every list starts with its length, which is
// limited, so that a damaged text costs no memory.
#include "kernelsim/load.hpp"

#include <heapwright/structure/kernel/page_section.hpp>

#include "synth/token_reader.hpp"

#include <bit>
#include <istream>
#include <string>

namespace heapwright::kernelsim {

namespace {

using Verb = Event::Verb;

constexpr std::uint64_t mostActivities = 256;
constexpr std::uint64_t mostParts = 64;
constexpr std::uint64_t mostCount = 4096;
constexpr std::uint64_t mostOperations = std::uint64_t{1} << 28U;
constexpr double longest = 1e12; ///< nanoseconds between two operations

using TokenReader = synth::TokenReader<LoadError>;

void readCaches(TokenReader& words, Load& load) {
    words.expect("caches");
    load.caches.resize(words.whole(0, mostCaches));
    for (CacheKind& kind : load.caches) {
        words.expect("cache");
        kind.size = words.whole(leastObject, mostObject);
        kind.align = words.whole(1, bytesOfPage);
        if (!std::has_single_bit(kind.align))
            words.fail("an alignment is a power of two");
        kind.constructed = words.whole(0, 1) != 0;
        kind.reclaimable = words.whole(0, 1) != 0;
        kind.name = words.word();
    }
}

Life readLife(TokenReader& words, bool alone) {
    const std::string kind = words.word();
    Life life;
    if (kind == "with" && !alone) {
        return life;
    }
    if (kind == "mean") {
        life.kind = Life::Kind::mean;
        life.least = life.most = words.whole(1, mostOperations);
    } else if (kind == "between") {
        life.kind = Life::Kind::between;
        life.least = words.whole(0, mostOperations);
        life.most = words.whole(life.least, mostOperations);
    } else if (kind == "dropped") {
        life.kind = Life::Kind::dropped;
    } else if (kind == "end") {
        life.kind = Life::Kind::end;
    } else {
        words.fail("there is no such life");
    }
    return life;
}

Part readPart(TokenReader& words, const Load& load) {
    Part part;
    const std::string kind = words.word();
    if (kind == "object") {
        if (load.caches.empty())
            words.fail("there are no caches");
        part.cache = static_cast<std::uint32_t>(words.whole(0, load.caches.size() - 1));
    } else if (kind == "general") {
        part.verb = Verb::general;
        part.leastSize = words.whole(leastObject, mostObject);
        part.mostSize = words.whole(part.leastSize, mostObject);
    } else if (kind == "pages") {
        part.verb = Verb::pages;
        part.order = static_cast<std::uint8_t>(words.whole(0, pageOrders - 1));
        part.mobility = static_cast<std::uint8_t>(words.whole(0, mobilities - 1));
    } else {
        words.fail("expected object, general or pages");
    }
    part.leastCount = words.whole(0, mostCount);
    part.mostCount = words.whole(part.leastCount, mostCount);
    part.life = readLife(words, false);
    return part;
}

void readActivities(TokenReader& words, Load& load) {
    words.expect("activities");
    load.activities.resize(words.whole(1, mostActivities));
    double weights = 0;
    for (Activity& activity : load.activities) {
        words.expect("activity");
        activity.weight = words.real(1e9);
        weights += activity.weight;
        activity.elsewhere = words.real(1);
        activity.life = readLife(words, true);
        const std::uint64_t parts = words.whole(1, mostParts);
        for (std::uint64_t each = 0; each < parts; ++each)
            activity.parts.push_back(readPart(words, load));
    }
    if (weights <= 0)
        words.fail("no activity has a weight");
}

} // namespace

Load readLoad(std::istream& text) {
    TokenReader words(text, "the load");
    Load load;
    words.expect("heapwright-kernel-load");
    words.whole(1, 1);
    words.expect("memory");
    load.memory = words.whole(16, mostMemory);
    words.expect("operations");
    load.operations = words.whole(1, mostOperations);
    words.expect("nanoseconds");
    load.nanoseconds = words.real(longest);
    readCaches(words, load);
    words.expect("fill");
    load.fill = words.real(1);
    load.holes = words.real(1);
    words.expect("reclaim");
    load.reclaimEvery = words.whole(0, mostOperations);
    load.reclaimPages = words.whole(0, UINT32_MAX);
    readActivities(words, load);
    words.expect("end");
    return load;
}

} // namespace heapwright::kernelsim

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <heapwright/core/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace heapwright::look {

namespace {

constexpr std::size_t mostMappings = 12; ///< that are listed
constexpr std::size_t mostGroups = 20;   ///< of lost blocks

void add(Json& json, const char* name, const Blocks& blocks) {
    json.key(name).beginObject().field("blocks", blocks.blocks).field("bytes", blocks.bytes);
    json.endObject();
}

void addArena(Json& json, const ArenaAccount& each) {
    json.beginObject().field("address", each.arena.at).field("is_main", each.arena.isMain);
    json.field("is_locked", each.arena.isLocked).field("threads", each.arena.threads);
    json.field("heaps", each.heaps).field("system_bytes", each.arena.systemBytes);
    json.field("resident_bytes", each.resident);
    add(json, "live", each.live());
    add(json, "cached", each.cachedByThreads);
    add(json, "fast", each.fast);
    add(json, "free", each.free);
    json.field("free_page_bytes", each.wholePages).field("top_bytes", each.topBytes);
    json.field("top_resident_bytes", each.topResident).field("released_bytes", each.released);
    json.field("lost_bytes", each.lostBytes).field("repeats", std::uint32_t{each.repeats});
    json.endObject();
}

void addParameters(Json& json, const Parameters& each) {
    json.beginObject().field("trim_threshold", each.trimThreshold);
    json.field("mmap_threshold", each.mmapThreshold).field("arena_max", each.arenaMax);
    json.field("is_threshold_fixed", each.isThresholdFixed);
    json.field("top_pad", each.topPad).field("tcache_count", each.tcacheCount);
    json.field("mmaps", each.mmaps).field("mmapped_bytes", each.mmappedBytes).endObject();
}

void addGlibc(Json& json, const Findings& findings) {
    json.key("glibc");
    if (!findings.glibc) {
        json.null();
        return;
    }
    const Glibc& glibc = *findings.glibc;
    json.beginObject().field("path", std::string_view(glibc.path)).field("is_whole", glibc.isWhole);
    json.key("parameters");
    if (glibc.parameters) {
        addParameters(json, *glibc.parameters);
    } else {
        json.null();
    }
    json.key("arenas").beginArray();
    for (const ArenaAccount& each : findings.heap.arenas) {
        addArena(json, each);
    }
    json.endArray();
    Blocks blocks;
    for (const MappedChunk& each : findings.blocks) {
        ++blocks.blocks;
        blocks.bytes += each.usable();
    }
    add(json, "mapped", blocks);
    json.field("mapped_resident_bytes", findings.blocksResident);
    json.field("thread_caches", static_cast<std::uint64_t>(findings.heap.tables.size()));
    json.endObject();
}

void addGranary(Json& json, const std::optional<GranaryAccount>& granary) {
    json.key("granary");
    if (!granary) {
        json.null();
        return;
    }
    json.beginObject().field("superblocks", granary->superblocks);
    json.field("empty_superblocks", granary->emptySuperblocks);
    add(json, "small", granary->small);
    add(json, "large", granary->large);
    json.field("free_slot_bytes", granary->freeSlots);
    json.field("resident_bytes", granary->resident).endObject();
}

void addMimalloc(Json& json, const std::optional<MimallocAccount>& mimalloc) {
    json.key("mimalloc");
    if (!mimalloc) {
        json.null();
        return;
    }
    json.beginObject().field("problem", std::string_view(mimalloc->problem));
    json.field("segments", mimalloc->segments).field("pages", mimalloc->pages);
    add(json, "live", mimalloc->live);
    json.field("free_bytes", mimalloc->freeBytes);
    json.field("resident_bytes", mimalloc->resident).endObject();
}

void addCategories(Json& json, const Categories& sums) {
    json.key("categories").beginArray();
    for (std::size_t kind = 0; kind < sums.size(); ++kind) {
        const Sum& sum = sums[kind];
        json.beginObject().field("name", categoryNames[kind]).field("mappings", sum.mappings);
        json.field("bytes", sum.bytes).field("resident_bytes", sum.resident);
        json.field("swapped_bytes", sum.swapped).field("lazy_free_bytes", sum.lazyFree);
        json.endObject();
    }
    json.endArray();
}

void addMappings(Json& json, const Image& image) {
    std::vector<const Mapping*> all;
    for (const Mapping& mapping : image.mappings()) {
        all.push_back(&mapping);
    }
    const std::size_t count = std::min(mostMappings, all.size());
    std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                      [](const Mapping* one, const Mapping* other) {
                          return std::pair(other->resident, one->begin) <
                                 std::pair(one->resident, other->begin);
                      });
    json.key("largest").beginArray();
    for (std::size_t each = 0; each < count; ++each) {
        json.beginObject().field("address", all[each]->begin);
        json.field("path", std::string_view(all[each]->path)).field("bytes", all[each]->size());
        json.field("resident_bytes", all[each]->resident).endObject();
    }
    json.endArray();
    std::set<std::string_view> files;
    for (const Mapping& mapping : image.mappings()) {
        if (mapping.executable && mapping.isFile()) {
            files.insert(mapping.path);
        }
    }
    json.key("objects").beginArray();
    for (const std::string_view file : files) {
        json.value(file);
    }
    json.endArray();
}

/// Blocks of one size whose first word is the same, if it leads into a program or library.
struct Group {
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    Address example = 0;
};

void addLeaks(Json& json, const std::optional<Leaks>& leaks, const Image& image) {
    json.key("leaks");
    if (!leaks) {
        json.null();
        return;
    }
    std::map<std::pair<std::uint64_t, Address>, Group> groups;
    std::uint64_t bytes = 0;
    for (const LostBlock& block : leaks->lost) {
        const Mapping* const mapping = image.find(block.first);
        const bool isObject = mapping != nullptr && mapping->isFile();
        Group& group = groups[{block.bytes, isObject ? block.first : 0}];
        ++group.blocks;
        group.bytes += block.bytes;
        group.example = group.example == 0 ? block.at : group.example;
        bytes += block.bytes;
    }
    std::vector<std::pair<std::pair<std::uint64_t, Address>, Group>> order(groups.begin(),
                                                                           groups.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& one, const auto& other) {
        return one.second.bytes > other.second.bytes;
    });
    order.resize(std::min(order.size(), mostGroups));
    json.beginObject().field("is_complete", leaks->isComplete);
    json.field("searched_blocks", leaks->blocks).field("searched_bytes", leaks->bytes);
    json.field("blocks", static_cast<std::uint64_t>(leaks->lost.size())).field("bytes", bytes);
    json.key("groups").beginArray();
    for (const auto& [key, group] : order) {
        const Mapping* const mapping = key.second == 0 ? nullptr : image.find(key.second);
        json.beginObject().field("block_bytes", key.first).field("blocks", group.blocks);
        json.field("bytes", group.bytes).field("example", group.example);
        json.field("first_word", key.second);
        json.field("object", std::string_view(mapping == nullptr ? "" : mapping->path));
        json.endObject();
    }
    json.endArray().endObject();
}

void addSizes(Json& json, const std::vector<Blocks>& sizes) {
    json.key("sizes").beginArray();
    for (std::size_t power = 0; power < sizes.size(); ++power) {
        if (sizes[power].blocks != 0) {
            json.beginObject().field("least", std::uint64_t{1} << power);
            json.field("blocks", sizes[power].blocks).field("bytes", sizes[power].bytes);
            json.endObject();
        }
    }
    json.endArray();
}

} // namespace

std::string reportOf(const Findings& findings, const Image& image) {
    Json json;
    json.beginObject().field("is_core", findings.isCore);
    json.field("missing_bytes", findings.missingBytes);
    addCategories(json, findings.categories);
    addGlibc(json, findings);
    addGranary(json, findings.granary);
    addMimalloc(json, findings.mimalloc);
    std::uint64_t ended = 0;
    for (const Stack& stack : findings.stacks) {
        ended += stack.isEnded ? 1 : 0;
    }
    json.key("stacks").beginObject();
    json.field("threads", static_cast<std::uint64_t>(findings.stacks.size()));
    json.field("ended", ended).field("ended_resident_bytes", findings.endedStacksResident);
    json.endObject();
    addMappings(json, image);
    addLeaks(json, findings.leaks, image);
    addSizes(json, findings.sizes);
    json.key("pause_ms");
    findings.pauseMs ? json.value(*findings.pauseMs) : json.null();
    json.field("copied_bytes", findings.copiedBytes).endObject();
    return json.text();
}

} // namespace heapwright::look

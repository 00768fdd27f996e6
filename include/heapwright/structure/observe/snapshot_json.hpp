// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A snapshot as one line of JSON. granary-statistics.schema.json defines every field. The caller
// may add fields of its own to the same object.
//
// Nothing is allocated. Text beyond the capacity is cut off, and the text records this.
#pragma once

#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/structure/observe/fixed_text.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace heapwright {

/// Text in quotes, as JSON. A character outside printable ASCII becomes "?".
template <class Text>
Text& putJsonText(Text& text, std::string_view words) noexcept {
    text.put('"');
    for (const char c : words) {
        const bool printable = c >= ' ' && c <= '~';
        if (c == '"' || c == '\\') {
            text.put('\\');
        }
        text.put(printable ? c : '?');
    }
    return text.put('"');
}

template <class Text>
class SnapshotJson {
public:
    SnapshotJson(const HeapSnapshot& snapshot, Text& text) noexcept
        : inspection_(snapshot), text_(text) {}

    /// The fields of the snapshot, without the braces around them.
    [[gnu::cold]] void writeFields() noexcept {
        const HeapSnapshot::Totals sum = inspection_.totals();
        writeObject("live", {{"objects", sum.liveObjects}, {"bytes", sum.liveBytes}});
        writeObject("cached", {{"objects", sum.cachedObjects}, {"bytes", sum.cachedBytes}});
        writeObject("free", {{"objects", sum.freeObjects}, {"bytes", sum.freeBytes}});
        writeField({"superblock_bytes", inspection_.blockBytes});
        writeField({"heaps", inspection_.heaps});
        writeClasses();
        writeLarge();
        writeCaches();
        writeSource();
        writeLocks();
    }

private:
    struct Field {
        std::string_view name;
        std::uint64_t value;
    };

    [[gnu::cold]] void separate() noexcept {
        if (!first_) {
            text_.put(',');
        }
        first_ = false;
    }

    [[gnu::cold]] void open(std::string_view name, char bracket) noexcept {
        separate();
        if (!name.empty()) {
            putJsonText(text_, name).put(':');
        }
        text_.put(bracket);
        first_ = true;
    }
    [[gnu::cold]] void close(char bracket) noexcept {
        text_.put(bracket);
        first_ = false;
    }

    [[gnu::cold]] void writeField(const Field& field) noexcept {
        separate();
        putJsonText(text_, field.name).put(':').putNumber(field.value);
    }

    /// An object of numbers, without a name if it is an element of an array.
    [[gnu::cold]] void writeObject(std::string_view name,
                                   std::initializer_list<Field> fields) noexcept {
        open(name, '{');
        for (const Field& field : fields) {
            writeField(field);
        }
        close('}');
    }

    [[gnu::cold]] void writeClasses() noexcept {
        open("classes", '[');
        for (std::size_t at = 0; at < inspection_.classCount; ++at) {
            const HeapSnapshot::SizeClass& each = inspection_.classes[at];
            if (each.everUsed()) {
                writeObject("", {{"class", at},
                                 {"size", each.size},
                                 {"live", each.live()},
                                 {"cached", each.cached},
                                 {"free", each.free()},
                                 {"superblocks", each.blocks},
                                 {"held_bytes", each.blocks * inspection_.blockBytes},
                                 {"returned_superblocks", each.returned}});
            }
        }
        close(']');
    }

    [[gnu::cold]] void writeLarge() noexcept {
        const HeapSnapshot::Large& large = inspection_.large;
        writeObject("large", {{"objects", large.objects},
                              {"bytes", large.bytes},
                              {"direct_objects", large.direct},
                              {"direct_bytes", large.directBytes}});
    }

    [[gnu::cold]] void writeCaches() noexcept {
        open("caches", '{');
        writeField({"threads", inspection_.cacheCount});
        open("all", '{');
        writeCacheFields(inspection_.allCaches);
        close('}');
        open("each", '[');
        for (std::size_t at = 0; at < inspection_.cacheRows(); ++at) {
            const HeapSnapshot::Cache& each = inspection_.caches[at];
            open("", '{');
            writeField({"thread", each.thread});
            writeCacheFields(each);
            close('}');
        }
        close(']');
        close('}');
    }

    [[gnu::cold]] void writeCacheFields(const HeapSnapshot::Cache& cache) noexcept {
        writeField({"objects", cache.objects});
        writeField({"bytes", cache.bytes});
        writeField({"remote_objects", cache.remoteObjects});
        writeField({"remote_bytes", cache.remoteBytes});
        writeField({"refills", cache.refills});
        writeField({"flushes", cache.flushes});
    }

    [[gnu::cold]] void writeSource() noexcept {
        const HeapSnapshot::Source& source = inspection_.source;
        writeObject("chunks", {{"count", source.chunks},
                               {"bytes", source.chunkBytes},
                               {"used_bytes", source.usedBytes},
                               {"dirty_bytes", source.dirtyBytes},
                               {"clean_bytes", source.cleanBytes}});
        const HeapSnapshot::System& system = inspection_.system;
        writeObject("system", {{"mapped_bytes", system.nowMapped()},
                               {"maps", system.maps},
                               {"mapped_bytes_ever", system.mappedBytes},
                               {"unmaps", system.unmaps},
                               {"unmapped_bytes_ever", system.unmappedBytes},
                               {"purges", system.purges},
                               {"purged_bytes_ever", system.purgedBytes},
                               {"moves", system.moves}});
    }

    [[gnu::cold]] void writeLocks() noexcept {
        open("locks", '{');
        for (const auto& [name, lock] :
             std::initializer_list<std::pair<std::string_view, HeapSnapshot::Lock>>{
                 {"heaps", inspection_.heapLocks},
                 {"shared", inspection_.globalLock},
                 {"chunks", inspection_.sourceLock}}) {
            writeObject(name, {{"takes", lock.takes}, {"waits", lock.waits}});
        }
        close('}');
    }

    const HeapSnapshot& inspection_;
    Text& text_;
    bool first_ = true;
};

} // namespace heapwright

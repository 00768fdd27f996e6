// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A snapshot as metrics of Prometheus. The text is valid in the text format of Prometheus and in
// OpenMetrics 1.0. The two formats name a counter differently, so the counters have no type line.
//
// Invariant: the samples of one metric stand together, behind its help line.
// Nothing is allocated. Text beyond the capacity is cut off, and the text records this.
// Source: the OpenMetrics specification, version 1.0.
#pragma once

#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/structure/observe/fixed_text.hpp>
#include <heapwright/structure/observe/snapshot_json.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

/// The labels that all metrics of a process have.
struct MetricLabels {
    std::string_view allocator;
    std::string_view program;
    std::uint64_t process = 0;
};

template <class Text>
class SnapshotMetrics {
public:
    SnapshotMetrics(const HeapSnapshot& snapshot, const MetricLabels& labels, Text& text) noexcept
        : snapshot_(snapshot), labels_(labels), text_(text) {}

    [[gnu::cold]] void write() noexcept {
        writeObjects();
        writeMemory();
        writeCounters();
        writeLocks();
        writeClasses();
        text_.put("# EOF\n");
    }

private:
    enum class Kind : std::uint8_t { gauge, counter };

    [[gnu::cold]] void begin(std::string_view name, std::string_view help, Kind kind) noexcept {
        text_.put("# HELP heapwright_").put(name).put(' ').put(help).put('\n');
        if (kind == Kind::gauge) {
            text_.put("# TYPE heapwright_").put(name).put(" gauge\n");
        }
    }

    /// The value after the label that is only of this metric, if it has a name.
    [[gnu::cold]] void sample(std::string_view name, std::uint64_t value,
                              std::string_view label = {}, std::string_view of = {}) noexcept {
        text_.put("heapwright_").put(name).put("{allocator=");
        putJsonText(text_, labels_.allocator).put(",program=");
        putJsonText(text_, labels_.program).put(",process=\"");
        text_.putNumber(labels_.process).put('"');
        if (!label.empty()) {
            text_.put(',').put(label).put('=');
            putJsonText(text_, of);
        }
        text_.put("} ").putNumber(value).put('\n');
    }

    [[gnu::cold]] void gauge(std::string_view name, std::string_view help,
                             std::uint64_t value) noexcept {
        begin(name, help, Kind::gauge);
        sample(name, value);
    }
    [[gnu::cold]] void counter(std::string_view name, std::string_view help,
                               std::uint64_t value) noexcept {
        begin(name, help, Kind::counter);
        sample(name, value);
    }

    [[gnu::cold]] void writeObjects() noexcept {
        const HeapSnapshot::Totals sum = snapshot_.totals();
        gauge("live_objects", "Objects that the program has allocated and not freed.",
              sum.liveObjects);
        gauge("live_bytes", "Usable bytes of live objects.", sum.liveBytes);
        gauge("large_objects", "Live objects too large for any size class.",
              snapshot_.large.objects);
        gauge("large_bytes", "Usable bytes of large live objects.", snapshot_.large.bytes);
        gauge("cached_objects", "Freed objects in caches of threads.", sum.cachedObjects);
        gauge("cached_bytes", "Bytes of freed objects in caches of threads.", sum.cachedBytes);
        gauge("free_bytes", "Free slots in superblocks.", sum.freeBytes);
        gauge("caches", "Threads with a cache.", snapshot_.cacheCount);
    }

    [[gnu::cold]] void writeMemory() noexcept {
        gauge("dirty_bytes", "Free memory that is not returned to the system yet.",
              snapshot_.source.dirtyBytes);
        gauge("clean_bytes", "Free memory that is returned, or was never touched.",
              snapshot_.source.cleanBytes);
        gauge("mapped_bytes", "Addresses from the system, with or without memory.",
              snapshot_.system.nowMapped());
    }

    [[gnu::cold]] void writeCounters() noexcept {
        const HeapSnapshot::System& system = snapshot_.system;
        counter("maps_total", "System calls that mapped addresses.", system.maps);
        counter("unmaps_total", "System calls that unmapped addresses.", system.unmaps);
        counter("purges_total", "System calls that returned memory and kept the addresses.",
                system.purges);
        counter("purged_bytes_total", "Bytes that these calls returned.", system.purgedBytes);
        counter("moves_total", "Large objects that the kernel moved by their pages.", system.moves);
    }

    [[gnu::cold]] void writeLocks() noexcept {
        begin("lock_takes_total", "Acquisitions of the allocator's locks.", Kind::counter);
        sample("lock_takes_total", snapshot_.heapLocks.takes, "lock", "heaps");
        sample("lock_takes_total", snapshot_.globalLock.takes, "lock", "shared");
        sample("lock_takes_total", snapshot_.sourceLock.takes, "lock", "chunks");
        begin("lock_waits_total", "Acquisitions that had to wait.", Kind::counter);
        sample("lock_waits_total", snapshot_.heapLocks.waits, "lock", "heaps");
        sample("lock_waits_total", snapshot_.globalLock.waits, "lock", "shared");
        sample("lock_waits_total", snapshot_.sourceLock.waits, "lock", "chunks");
    }

    [[gnu::cold]] void writeClasses() noexcept {
        begin("class_live_objects", "Live objects of a size class.", Kind::gauge);
        for (std::size_t at = 0; at < snapshot_.classCount; ++at) {
            const HeapSnapshot::SizeClass& each = snapshot_.classes[at];
            if (each.everUsed()) {
                sample("class_live_objects", each.live(), "size", Size(each.size).view());
            }
        }
        begin("class_held_bytes", "Bytes of the superblocks of a size class.", Kind::gauge);
        for (std::size_t at = 0; at < snapshot_.classCount; ++at) {
            const HeapSnapshot::SizeClass& each = snapshot_.classes[at];
            if (each.everUsed()) {
                sample("class_held_bytes", each.blocks * snapshot_.blockBytes, "size",
                       Size(each.size).view());
            }
        }
    }

    struct Size : FixedText<24> {
        explicit Size(std::size_t bytes) noexcept { this->putNumber(bytes); }
    };

    const HeapSnapshot& snapshot_;
    MetricLabels labels_;
    Text& text_;
};

} // namespace heapwright

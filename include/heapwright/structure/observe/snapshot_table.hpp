// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A snapshot as text for terminals of at least 72 columns. The totals of live, cached and held
// memory come first. A line follows for each size class that was ever used and for each thread's
// cache.
//
// Nothing is allocated. Text beyond the capacity is omitted at the end.
#pragma once

#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/structure/observe/fixed_text.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

template <class Text>
class SnapshotTable {
public:
    SnapshotTable(const HeapSnapshot& snapshot, Text& text) noexcept
        : inspection_(snapshot), text_(text) {}

    [[gnu::cold]] void write() noexcept {
        writeTotals();
        writeLocks();
        writeClasses();
        writeCaches();
    }

private:
    using Word = FixedText<24>;
    static constexpr std::size_t labelWidth = 13;

    /// "17", "1.5 KiB" …: three or four digits.
    [[nodiscard, gnu::cold]] static Word bytes(std::uint64_t count) noexcept {
        constexpr std::array<std::string_view, 6> units = {" B",   " KiB", " MiB",
                                                           " GiB", " TiB", " PiB"};
        std::size_t unit = 0;
        while (unit + 1 < units.size() && count >> (10 * (unit + 1)) != 0) {
            ++unit;
        }
        const std::uint64_t one = std::uint64_t{1} << (10 * unit);
        Word word;
        word.putNumber(count / one);
        if (unit != 0) {
            word.put('.').putNumber((count % one * 10) >> (10 * unit));
        }
        return word.put(units[unit]);
    }

    /// Right-aligned in `width` columns.
    [[gnu::cold]] void right(std::string_view word, std::size_t width) noexcept {
        for (std::size_t at = word.size(); at < width; ++at) {
            text_.put(' ');
        }
        text_.put(word);
    }
    [[gnu::cold]] void right(std::uint64_t number, std::size_t width) noexcept {
        right(Word().putNumber(number).view(), width);
    }

    [[gnu::cold]] Text& label(std::string_view name) noexcept {
        text_.put("  ").put(name);
        for (std::size_t at = name.size(); at < labelWidth; ++at) {
            text_.put(' ');
        }
        return text_;
    }

    [[gnu::cold]] Text& putBytes(std::uint64_t count) noexcept {
        return text_.put(bytes(count).view());
    }

    [[gnu::cold]] void writeTotals() noexcept {
        const HeapSnapshot::Totals sum = inspection_.totals();
        label("live");
        putBytes(sum.liveBytes).put(" in ").putNumber(sum.liveObjects).put(" objects, ");
        putBytes(inspection_.large.bytes).put(" of it in ");
        text_.putNumber(inspection_.large.objects).put(" large\n");
        label("cached");
        putBytes(sum.cachedBytes).put(" in ").putNumber(sum.cachedObjects).put(" objects of ");
        text_.putNumber(inspection_.cacheCount).put(" threads\n");
        label("free");
        putBytes(sum.freeBytes).put(" in superblocks of ");
        text_.putNumber(inspection_.heaps).put(" heaps\n");
        const HeapSnapshot::Source& source = inspection_.source;
        label("chunks");
        putBytes(source.chunkBytes).put(" in ").putNumber(source.chunks).put(", of it free ");
        putBytes(source.dirtyBytes).put(" + ");
        putBytes(source.cleanBytes).put(" returned\n");
        const HeapSnapshot::System& system = inspection_.system;
        label("from system");
        putBytes(system.nowMapped()).put(" of addresses\n");
        label("calls");
        text_.putNumber(system.maps).put(" maps ");
        putBytes(system.mappedBytes).put(", ").putNumber(system.unmaps).put(" unmaps ");
        putBytes(system.unmappedBytes).put('\n');
        label("");
        text_.putNumber(system.purges).put(" purges ");
        putBytes(system.purgedBytes).put(", ").putNumber(system.moves).put(" moves\n");
    }

    [[gnu::cold]] void writeLocks() noexcept {
        writeLock("heap locks", inspection_.heapLocks);
        writeLock("shared lock", inspection_.globalLock);
        writeLock("chunks' lock", inspection_.sourceLock);
    }

    [[gnu::cold]] void writeLock(std::string_view name, const HeapSnapshot::Lock& lock) noexcept {
        label(name).put("taken ").putNumber(lock.takes).put(" times, waited for ");
        text_.putNumber(lock.waits).put('\n');
    }

    [[gnu::cold]] void writeClasses() noexcept {
        text_.put("\n   size       live   cached      free       held  returned\n");
        for (std::size_t at = 0; at < inspection_.classCount; ++at) {
            const HeapSnapshot::SizeClass& each = inspection_.classes[at];
            if (!each.everUsed()) {
                continue;
            }
            right(each.size, 7);
            right(each.live(), 11);
            right(each.cached, 9);
            right(each.free(), 10);
            right(bytes(each.blocks * inspection_.blockBytes).view(), 11);
            right(each.returned, 10);
            text_.put('\n');
        }
    }

    [[gnu::cold]] void writeCaches() noexcept {
        if (inspection_.cacheCount == 0) {
            return;
        }
        text_.put("\n thread    cached      bytes   away      bytes    refills   flushes\n");
        const std::size_t rows = inspection_.cacheRows();
        for (std::size_t at = 0; at < rows; ++at) {
            const HeapSnapshot::Cache& each = inspection_.caches[at];
            right(each.thread, 7);
            writeCache(each);
        }
        if (rows != 1) {
            right("all", 7);
            writeCache(inspection_.allCaches);
        }
    }

    [[gnu::cold]] void writeCache(const HeapSnapshot::Cache& cache) noexcept {
        right(cache.objects, 10);
        right(bytes(cache.bytes).view(), 11);
        right(cache.remoteObjects, 7);
        right(bytes(cache.remoteBytes).view(), 11);
        right(cache.refills, 11);
        right(cache.flushes, 10);
        text_.put('\n');
    }

    const HeapSnapshot& inspection_;
    Text& text_;
};

} // namespace heapwright

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocator's figures, taken at one moment and then printed. The form is a table, a line of
// JSON (granary-statistics.schema.json), or metrics of Prometheus.
//
// Nothing is allocated, and little stack is used, because any request may have to print statistics.
// The figures and the text have static memory, touched only when needed, and a lock. The output is
// one write, so that the documents of several processes can share a file. Metrics replace their
// file, because their reader wants one document of one moment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include <heapwright/core/address.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/output.hpp>
#include <heapwright/structure/observe/fixed_text.hpp>
#include <heapwright/structure/observe/snapshot_json.hpp>
#include <heapwright/structure/observe/snapshot_metrics.hpp>
#include <heapwright/structure/observe/snapshot_table.hpp>
#include <heapwright/structure/settings/granary_settings.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>

#include <preload/granary/locked_heap_guard.hpp>
#include <preload/instance.hpp>

namespace heapwright::preload {

template <InspectableHeap Allocator, class Identity>
class GranaryStatistics {
    using Text = FixedText<64 * KiB>;
    using Format = GranarySettings::Format;

public:
    /// Prints to the destination of the settings.
    [[gnu::cold]] static bool printAsSet() noexcept {
        const GranarySettings::Text target = GranarySettings::target();
        const Format format = GranarySettings::format();
        if (target.view() == "stderr") {
            return print(keptDescriptor(2), format);
        }
        if (const auto number = wholeNumber(target.view())) {
            return print(keptDescriptor(static_cast<int>(*number)), format);
        }
        FixedText<GranarySettings::longestValue + 1> path;
        writePath(path, target.view());
        if (format == Format::openMetrics) {
            return replace(path.view().data());
        }
        const int file = platform::appendToFile(path.view().data());
        const bool written = file >= 0 && print(file, format);
        if (file >= 0) {
            platform::closeFile(file);
        }
        return written;
    }

    /// Returns false if it could not be written.
    [[gnu::cold]] static bool print(int descriptor, Format format) noexcept {
        const Guard<FutexLock> hold(lock_);
        fill(format);
        return platform::writeAll(descriptor, text_.view().data(), text_.view().size());
    }

    /// Runs `use` on the present figures.
    template <class Use>
    [[gnu::cold]] static void look(Use use) noexcept {
        const Guard<FutexLock> hold(lock_);
        take(inspection_);
        use(inspection_);
    }

    /// Many programs close stderr before they end. If statistics are to be printed there at exit, a
    /// duplicate of the descriptor is kept.
    [[gnu::cold]] static void keepDescriptor() noexcept {
        if (!GranarySettings::printsAtExit() || kept_ >= 0) {
            return;
        }
        const GranarySettings::Text target = GranarySettings::target();
        const auto number = target.view() == "stderr" ? 2U : wholeNumber(target.view());
        if (number) {
            keptFor_ = static_cast<int>(*number);
            kept_ = platform::duplicateFile(keptFor_);
            identity_ = platform::identityOf(kept_);
        }
    }

    static void afterForkInChild() noexcept { lock_.reset(); }

private:
    [[gnu::cold]] static void take(HeapSnapshot& snapshot) noexcept {
        std::construct_at(&snapshot); // in place, because it is large for a stack
        const LockedHeapGuard<Allocator> still(instance<Allocator>());
        instance<Allocator>().inspect(snapshot);
    }

    /// Replaces a file of metrics. The temporary file has another ending, so that no collector
    /// reads it.
    [[gnu::cold]] static bool replace(const char* path) noexcept {
        FixedText<GranarySettings::longestValue + 32> temporary;
        temporary.put(path).put('.').putNumber(platform::processNumber()).put('\0');
        const Guard<FutexLock> hold(lock_);
        fill(Format::openMetrics);
        return platform::replaceFile(path, temporary.view().data(), text_.view().data(),
                                     text_.view().size());
    }

    /// Pre: the lock is held.
    [[gnu::cold]] static void fill(Format format) noexcept {
        take(inspection_);
        text_.clear();
        switch (format) {
        case Format::json:
            writeJson();
            break;
        case Format::openMetrics:
            writeMetrics();
            break;
        case Format::table:
            text_.put(Identity::name).put(' ').put(Identity::version).put(", process ");
            text_.putNumber(platform::processNumber()).put('\n');
            SnapshotTable<Text>(inspection_, text_).write();
        }
    }

    [[gnu::cold]] static void writeMetrics() noexcept {
        std::array<char, 64> name;
        const std::size_t length = platform::processName(name.data(), name.size());
        const MetricLabels labels = {
            Identity::name, {name.data(), length}, platform::processNumber()};
        SnapshotMetrics<Text>(inspection_, labels, text_).write();
    }

    [[gnu::cold]] static void writeJson() noexcept {
        text_.put(R"({"format":"heapwright granary statistics","schema_version":1,"allocator":)");
        putJsonText(text_, Identity::name).put(R"(,"heapwright_version":)");
        putJsonText(text_, Identity::version).put(R"(,"process":)");
        text_.putNumber(platform::processNumber()).put(R"(,"settings":{)");
        GranarySettings::forEach(
            [first = true](std::string_view name, const GranarySettings::Text& value) mutable {
                text_.put(first ? "" : ",");
                putJsonText(text_, name).put(':');
                putJsonText(text_, value.view());
                first = false;
            });
        text_.put("},");
        SnapshotJson<Text>(inspection_, text_).writeFields();
        text_.put("}\n");
    }

    /// Writes the path with a zero byte at its end, and the process number in place of "%p".
    template <class Path>
    [[gnu::cold]] static void writePath(Path& path, std::string_view pattern) noexcept {
        const std::size_t place = pattern.find("%p");
        path.put(firstOf(pattern, place));
        if (place != std::string_view::npos) {
            path.putNumber(platform::processNumber()).put(restOf(pattern, place + 2));
        }
        path.put('\0');
    }

    [[nodiscard, gnu::cold]] static int keptDescriptor(int number) noexcept {
        const bool kept = kept_ >= 0 && keptFor_ == number;
        return kept && platform::identityOf(kept_) == identity_ ? kept_ : number;
    }

    static inline constinit FutexLock lock_;
    static inline constinit HeapSnapshot inspection_;
    static inline constinit Text text_;
    static inline constinit int kept_ = -1;
    static inline constinit int keptFor_ = -1;
    static inline constinit platform::FileIdentity identity_;
};

} // namespace heapwright::preload

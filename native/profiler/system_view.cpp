// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "system_view.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

namespace heapwright::profiler {

namespace {

constexpr std::size_t mostRows = 1000; // even, so that neighbours pair up
constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t pageShift = 12;
constexpr std::uint64_t arenaSize = 64 * mebibyte;

void writePlace(Json& json, std::string_view name, const HeapPlace& place) {
    json.key(name).beginObject();
    json.field("mappings", place.mappings);
    json.field("mapped_bytes", place.mapped);
    json.field("resident_bytes", place.resident);
    json.field("usable_bytes", place.usable);
    json.field("pinned_bytes", place.pinned);
    json.field("free_top_bytes", place.freeTop);
    json.field("cached_top_bytes", place.cachedTop);
    json.field("fast_top_bytes", place.fastTop);
    json.endObject();
}

void writeRow(Json& json, const SystemRow& row) {
    json.beginObject();
    json.secondsField("time_s", row.time);
    json.field("live_bytes", row.live);
    json.field("waste_bytes", row.waste);
    json.field("held_bytes", row.held);
    json.field("lazy_bytes", row.lazy);
    json.field("other_bytes", row.other);
    json.field("code_bytes", row.code);
    json.field("heap_mapped_bytes", row.heapMapped);
    json.field("heap_resident_bytes", row.heapResident);
    json.field("resident_bytes", row.resident);
    json.field("recorder_bytes", row.recorder);
    json.endObject();
}

void writeRatio(Json& json, std::string_view name, std::uint64_t a, std::uint64_t u) {
    if (u == 0) {
        json.key(name).null();
    } else {
        json.field(name, static_cast<double>(a) / static_cast<double>(u));
    }
}

/// The stretches of a mapping in which blocks pin memory. `pinned` is in ascending order.
struct InMapping {
    std::uint64_t bytes = 0;
    std::uint64_t top = 0; ///< the end of the last one; the mapping's begin if there is none
};

InMapping pinnedIn(const trace::SystemMapping& mapping, const std::vector<Span>& pinned) {
    InMapping found{0, mapping.begin};
    for (auto span = std::lower_bound(
             pinned.begin(), pinned.end(), mapping.begin,
             [](const Span& each, std::uint64_t begin) { return each.end <= begin; });
         span != pinned.end() && span->begin < mapping.end; ++span) {
        found.top = std::min(span->end, mapping.end);
        found.bytes += found.top - std::max(span->begin, mapping.begin);
    }
    return found;
}

} // namespace

SystemView::SystemView(const trace::Trace& trace, std::uint32_t process) : trace_(&trace) {
    for (const trace::Record& record : trace.system()) {
        if (record.process == process) {
            records_.push_back(record);
        }
    }
    readRecorderMemory(process);
    trace::SystemDecoder all; // the unit of the blocks must be known before the first one
    for (const trace::Record& record : records_) {
        all.take(record.type, record.bytes);
    }
    spans_ = Spans(all.objects());
    decode();
}

/// Also that of the processes from which it was forked.
void SystemView::readRecorderMemory(std::uint32_t process) {
    const std::vector<trace::ProcessInfo>& processes = trace_->processes();
    const std::vector<trace::Record> records = trace_->records(trace::BlockKind::process);
    for (std::size_t left = processes.size(); left != 0 && process < processes.size(); --left) {
        for (const trace::Record& record : records) {
            trace::RecorderMemory memory;
            if (record.process == process && record.type == trace::record::recorderMemory &&
                record.bytes.size() >= sizeof memory) {
                std::memcpy(&memory, record.bytes.data(), sizeof memory);
                recorderMemory_.push_back(memory);
            }
        }
        const trace::ProcessInfo& info = processes[process];
        process = info.cause == trace::Cause::fork ? info.parent : trace::noProcess;
    }
}

/// Steps to the next sample. Its time stays the same if the record's time decreases.
void SystemView::decode() {
    while (record_ < records_.size()) {
        const trace::Record& record = records_[record_++];
        if (decoder_.take(record.type, record.bytes)) {
            nextTime_ = std::min(trace_->nanoseconds(decoder_.sample().time), never - 1);
            return;
        }
    }
    nextTime_ = never;
}

std::vector<std::string> SystemView::objects() const {
    std::vector<std::string> paths;
    std::istringstream text(decoder_.objects());
    for (std::string path; std::getline(text, path);) {
        paths.push_back(path);
    }
    return paths;
}

void SystemView::take(std::uint64_t live, std::uint64_t usable) {
    const trace::SystemSample& sample = decoder_.sample();
    SystemRow row;
    row.time = nextTime_;
    row.live = live;
    row.waste = usable > live ? usable - live : 0;
    row.lazy = sample.lazy;
    row.recorder = sample.trace;
    row.resident = sample.resident();
    heaps_.clear();
    std::vector<Span> pinned; // made when needed
    for (const trace::SystemMapping& mapping : sample.mappings) {
        const std::uint64_t own = ofRecorder(mapping);
        row.recorder += own;
        row.resident -= own;
        if (hasAny(&Mebibyte::pages, mapping)) {
            heaps_.push_back(mapping);
            countHeap(row, mapping, pinned);
        }
    }
    const std::uint64_t inBlocks = live + row.waste;
    row.held = row.heapResident > inBlocks ? row.heapResident - inBlocks : 0;
    row.other = row.resident - row.heapResident;
    row.code = sample.fixed;
    mostMapped_ = std::max(mostMapped_, row.heapMapped);
    mostLive_ = std::max(mostLive_, live);
    if (row.held > held_) {
        held_ = row.held;
        noteMostHeld(row.time, inBlocks);
    }
    forgetUnmapped(sample.mappings);
    keep(row);
    decode();
}

/// Resident bytes of a mapping that are the recorder's.
std::uint64_t SystemView::ofRecorder(const trace::SystemMapping& mapping) const {
    std::uint64_t inside = 0;
    for (const trace::RecorderMemory& memory : recorderMemory_) {
        const std::uint64_t from = std::max(mapping.begin, memory.begin);
        const std::uint64_t to = std::min(mapping.end, memory.end);
        inside += from < to ? to - from : 0;
    }
    return std::min(inside, mapping.resident);
}

/// Adds a mapping in which blocks began. `pinned` is empty or has the pinned spans.
void SystemView::countHeap(SystemRow& row, const trace::SystemMapping& mapping,
                           std::vector<Span>& pinned) const {
    if (mapping.programBreak || hasAny(&Mebibyte::shared, mapping)) {
        row.heapMapped += mapping.end - mapping.begin;
        row.heapResident += mapping.resident;
        return;
    }
    if (pinned.empty()) {
        pinned = pinnedSpans();
    }
    const std::uint64_t inBlocks = pinnedIn(mapping, pinned).bytes;
    row.heapMapped += inBlocks;
    row.heapResident += std::min(inBlocks, mapping.resident);
}

/// Whether a page of the mapping is among these.
bool SystemView::hasAny(Pages pages, const trace::SystemMapping& mapping) const {
    const std::uint64_t last = mapping.end - 1;
    for (auto account = accounts_.lower_bound(mapping.begin >> 20);
         account != accounts_.end() && account->first <= last >> 20; ++account) {
        const std::uint64_t begin = account->first << 20;
        const std::uint64_t from = std::max(mapping.begin, begin);
        const std::uint64_t to = std::min(last, begin + (mebibyte - 1));
        for (std::uint64_t page = from >> pageShift; page <= to >> pageShift; ++page) {
            if ((account->second.*pages).test(page & 255)) {
                return true;
            }
        }
    }
    return false;
}

/// What is mapped there next is not heap only because something before it was.
void SystemView::forgetUnmapped(const std::vector<trace::SystemMapping>& mappings) {
    auto mapping = mappings.begin();
    for (auto& [number, account] : accounts_) {
        if (account.usable != 0) {
            continue;
        }
        const std::uint64_t begin = number << 20;
        while (mapping != mappings.end() && mapping->end <= begin) {
            ++mapping;
        }
        if (mapping != mappings.end() && mapping->begin <= begin &&
            mapping->end - begin >= mebibyte) {
            continue;
        }
        std::bitset<256> mapped;
        for (auto each = mapping; each != mappings.end() && each->begin < begin + mebibyte;
             ++each) {
            const std::uint64_t to = std::min(each->end, begin + mebibyte);
            for (std::uint64_t at = std::max(each->begin, begin); at < to; at += 4096) {
                mapped.set((at >> pageShift) & 255);
            }
        }
        account.pages &= mapped;
        account.shared &= mapped;
    }
}

/// The stretches of addresses in which blocks pin memory, in ascending order.
std::vector<Span> SystemView::pinnedSpans() const {
    std::vector<Span> spans;
    std::int64_t live = 0;
    for (const auto& [number, account] : accounts_) {
        for (std::uint64_t page = 0; page < account.pinned.size(); ++page) {
            const std::int64_t before = live;
            live += account.pinned[page];
            const std::uint64_t address = (number << 20) + (page << pageShift);
            if (before <= 0 && live > 0) {
                spans.push_back({address, address});
            } else if (before > 0 && live <= 0) {
                spans.back().end = address;
            }
        }
    }
    return spans;
}

/// The last block in these addresses that was freed and not merged; at `begin` if there is none.
SystemView::FreedBlock SystemView::lastFast(std::uint64_t begin, std::uint64_t end) const {
    FreedBlock found{begin, never};
    for (auto account = accounts_.lower_bound(begin >> 20);
         account != accounts_.end() && account->first <= (end - 1) >> 20; ++account) {
        const FreedBlock& last = account->second.lastFast;
        if (account->second.mergings == mergings_ && last.address > found.address &&
            last.address < end) {
            found = last;
        }
    }
    return found;
}

void SystemView::addTo(HeapPlace& place, const trace::SystemMapping& mapping,
                       const std::vector<Span>& pinned) const {
    ++place.mappings;
    place.mapped += mapping.end - mapping.begin;
    place.resident += mapping.resident;
    for (auto account = accounts_.lower_bound(mapping.begin >> 20);
         account != accounts_.end() && account->first <= (mapping.end - 1) >> 20; ++account) {
        place.usable += account->second.usable;
    }
    const auto [bytes, top] = pinnedIn(mapping, pinned);
    place.pinned += bytes;
    place.freeTop += mapping.end - top;
    const FreedBlock fast = lastFast(top, mapping.end);
    // A block that was cached after the others were freed keeps nothing that those do not keep.
    const bool mostlyFast = 2 * (fast.address - top) >= mapping.end - top;
    place.fastTop += fast.address - top;
    place.cachedTop += caches_.highest(top, mapping.end, mostlyFast ? fast.order : never) - top;
}

void SystemView::noteMostHeld(std::uint64_t time, std::uint64_t usable) {
    mostHeld_ = {};
    mostHeld_.time = time;
    mostHeld_.largestUnmapped = largestUnmapped_;
    const std::vector<Span> pinned = pinnedSpans();
    for (const trace::SystemMapping& mapping : heaps_) {
        addTo(mapping.programBreak             ? mostHeld_.programBreak
              : mapping.begin % arenaSize == 0 ? mostHeld_.arenas
                                               : mostHeld_.mapped,
              mapping, pinned);
    }
    // Mappings of their own stand close together, several in a mebibyte: they have what is left.
    const std::uint64_t elsewhere = mostHeld_.programBreak.usable + mostHeld_.arenas.usable;
    mostHeld_.mapped.usable = usable > elsewhere ? usable - elsewhere : 0;
}

/// Of the samples that make a row, the one with most resident memory is kept.
void SystemView::keep(const SystemRow& row) {
    if (inRow_ == perRow_ || rows_.empty()) {
        if (rows_.size() == mostRows) {
            for (std::size_t i = 0; i < mostRows / 2; ++i) {
                const SystemRow& a = rows_[2 * i];
                const SystemRow& b = rows_[2 * i + 1];
                rows_[i] = a.resident > b.resident ? a : b;
            }
            rows_.resize(mostRows / 2);
            perRow_ *= 2;
        }
        rows_.push_back(row);
        inRow_ = 1;
        return;
    }
    ++inRow_;
    if (row.resident >= rows_.back().resident) {
        rows_.back() = row;
    }
}

void SystemView::write(Json& json) const {
    json.beginObject();
    json.key("samples").beginArray();
    for (const SystemRow& row : rows_) {
        writeRow(json, row);
    }
    json.endArray();
    json.key("a_over_u").beginObject();
    writeRatio(json, "peak", mostMapped_, mostLive_);
    writeRatio(json, "at_end", rows_.empty() ? 0 : rows_.back().heapMapped,
               rows_.empty() ? 0 : rows_.back().live);
    json.endObject();
    json.key("most_held").beginObject();
    json.secondsField("time_s", mostHeld_.time);
    writePlace(json, "program_break", mostHeld_.programBreak);
    writePlace(json, "arenas", mostHeld_.arenas);
    writePlace(json, "mapped", mostHeld_.mapped);
    json.field("largest_unmapped_bytes", mostHeld_.largestUnmapped);
    json.endObject();
    json.key("objects").beginArray();
    for (const std::string& path : objects()) {
        json.value(std::string_view(path));
    }
    json.endArray();
    json.endObject();
}

} // namespace heapwright::profiler

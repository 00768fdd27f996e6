// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes an account; report.hpp lists the fields.
#include "drag/account/report.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace heapwright::drag {

namespace {

/// Sites are ordered by what they held after the last use.
struct Ranked {
    std::uint32_t number;
    const SiteSums* sums;

    Area drag() const { return sums->held - sums->needed; }
};

void writeArea(Json& json, std::string_view name, Area area) {
    std::string digits;
    do {
        digits += static_cast<char>('0' + static_cast<int>(area % 10));
        area /= 10;
    } while (area != 0);
    std::reverse(digits.begin(), digits.end());
    json.key(name).number(digits);
}

void writeAreas(Json& json, Area held, Area needed) {
    writeArea(json, "held_area", held);
    writeArea(json, "needed_area", needed);
}

void writeSome(Json& json, std::string_view name, std::uint64_t objects, std::uint64_t bytes) {
    json.key(name).beginObject().field("objects", objects).field("bytes", bytes).endObject();
}

void writeSums(Json& json, const SiteSums& sums) {
    json.field("objects", sums.objects).field("bytes", sums.bytes);
    writeSome(json, "never_freed", sums.unfreed, sums.unfreedBytes);
    writeSome(json, "never_accessed", sums.untouched, sums.untouchedBytes);
    writeAreas(json, sums.held, sums.needed);
}

void writePeak(Json& json, std::string_view name, const Peak& peak) {
    json.key(name).beginObject().field("bytes", peak.bytes).field("at", peak.at).endObject();
}

void writeCurves(Json& json, const Curves& curves) {
    json.key("curves").beginObject().field("step", curves.step()).key("held").beginArray();
    curves.eachPoint([&](const CurvePoint& point) { json.value(point.held); });
    json.endArray().key("needed").beginArray();
    curves.eachPoint([&](const CurvePoint& point) { json.value(point.needed); });
    json.endArray().endObject();
}

/// Writes the addresses of calls, not of their returns.
void writeFrames(Json& json, Sites::Chain chain, const Modules& modules) {
    json.key("frames").beginArray();
    for (const std::uint64_t frame : chain) {
        const Modules::Place place = modules.placeOf(frame - 1);
        json.beginArray();
        place.module == Modules::none ? json.null() : json.value(std::uint64_t{place.module});
        json.value(place.address).endArray();
    }
    json.endArray();
}

std::vector<Ranked> ranked(const Curves& curves) {
    std::vector<Ranked> all;
    for (std::uint32_t number = 0; number < curves.siteCount(); ++number) {
        const SiteSums* const sums = curves.site(number);
        if (sums != nullptr && sums->objects != 0) {
            all.push_back({number, sums});
        }
    }
    std::stable_sort(all.begin(), all.end(), [](const Ranked& a, const Ranked& b) {
        return a.drag() != b.drag() ? a.drag() > b.drag() : a.sums->bytes > b.sums->bytes;
    });
    return all;
}

SiteSums sumOf(const std::vector<Ranked>& sites, std::size_t from) {
    SiteSums sum;
    for (std::size_t i = from; i < sites.size(); ++i) {
        const SiteSums& each = *sites[i].sums;
        sum.objects += each.objects;
        sum.bytes += each.bytes;
        sum.untouched += each.untouched;
        sum.untouchedBytes += each.untouchedBytes;
        sum.unfreed += each.unfreed;
        sum.unfreedBytes += each.unfreedBytes;
        sum.held += each.held;
        sum.needed += each.needed;
    }
    return sum;
}

} // namespace

void writeDrag(Json& json, const Account& account, const Sites& sites, const Modules& modules) {
    const Curves& curves = account.curves();
    const Totals totals = curves.totals();
    const std::vector<Ranked> all = ranked(curves);
    const SiteSums sum = sumOf(all, 0);
    json.field("allocated_bytes", totals.clock).field("objects", totals.objects);
    writeSome(json, "never_freed", sum.unfreed, sum.unfreedBytes);
    writeSome(json, "never_accessed", sum.untouched, sum.untouchedBytes);
    writeAreas(json, totals.held, totals.needed);
    writePeak(json, "peak_held", totals.mostHeld);
    writePeak(json, "peak_needed", totals.mostNeeded);
    writeCurves(json, curves);
    json.key("modules").beginArray();
    for (const std::string& path : modules.paths()) {
        json.value(path);
    }
    json.endArray().key("sites").beginArray();
    const std::size_t written = std::min(all.size(), mostSites);
    for (std::size_t i = 0; i < written; ++i) {
        json.beginObject();
        writeSums(json, *all[i].sums);
        writeFrames(json, sites[all[i].number], modules);
        json.endObject();
    }
    json.endArray()
        .key("other_sites")
        .beginObject()
        .field("sites", std::uint64_t{all.size() - written});
    writeSums(json, sumOf(all, written));
    json.endObject();
    writeSome(json, "unseen", account.unseen().objects, account.unseen().bytes);
    json.field("unknown_frees", account.oddities().unknownFrees);
    json.field("overwritten", account.oddities().overwritten);
    json.field("unplaced", account.oddities().unplaced);
}

} // namespace heapwright::drag

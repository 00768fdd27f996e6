// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See system.hpp. Writing compares two ascending lists; reading makes the second from the first.
#include "trace/system.hpp"

#include <algorithm>

namespace heapwright::trace {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t highestPage = std::uint64_t{1} << 52; // so that no sum overflows
constexpr std::uint64_t mostKib = std::uint64_t{1} << 53;

enum Change : std::uint64_t { keep = 0, gone = 1, made = 2, changed = 3 };

void put(std::uint64_t value, std::string& out) {
    for (; value >= 128; value >>= 7) {
        out.push_back(static_cast<char>(static_cast<unsigned char>(value | 128)));
    }
    out.push_back(static_cast<char>(value));
}

void putChange(Change change, std::uint64_t number, std::string& out) {
    put(number << 2 | change, out);
}

/// The runs of mappings that are kept or gone, written once they end.
class Runs {
public:
    explicit Runs(std::string& out) : out_(out) {}
    ~Runs() { flush(); }
    Runs(const Runs&) = delete;
    Runs& operator=(const Runs&) = delete;

    void one(Change change) {
        if (change != change_) {
            flush();
        }
        change_ = change;
        ++count_;
    }

    void flush() {
        if (count_ != 0) {
            putChange(change_, count_, out_);
        }
        count_ = 0;
    }

private:
    std::string& out_;
    Change change_ = keep;
    std::uint64_t count_ = 0;
};

void putChanges(const std::vector<SystemMapping>& before, const std::vector<SystemMapping>& now,
                std::string& out) {
    Runs runs(out);
    std::uint64_t end = 0; // of the mapping written last
    auto old = before.begin();
    for (const SystemMapping& mapping : now) {
        for (; old != before.end() && old->begin < mapping.begin; ++old) {
            runs.one(gone);
        }
        const bool known = old != before.end() && old->begin == mapping.begin;
        if (known && *old == mapping) {
            runs.one(keep);
        } else {
            runs.flush();
            const std::uint64_t length = (mapping.end - mapping.begin) / page;
            putChange(known ? changed : made, known ? length : (mapping.begin - end) / page, out);
            if (!known) {
                put(length, out);
            }
            put(mapping.resident / kib * 2 + (mapping.programBreak ? 1 : 0), out);
        }
        old += known ? 1 : 0;
        end = mapping.end;
    }
    // What is left of the old ones is gone without being said.
}

} // namespace

std::string SystemEncoder::encode(const SystemSample& sample, bool complete) {
    std::string out;
    put(++number_, out);
    put(sample.time, out);
    for (const std::uint64_t bytes : {sample.fixed, sample.stack, sample.trace, sample.lazy}) {
        put(bytes / kib, out);
    }
    putChanges(complete ? std::vector<SystemMapping>() : last_.mappings, sample.mappings, out);
    put(keep, out); // of none: the end
    last_ = sample;
    return out;
}

bool SystemDecoder::number(std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
        const auto byte = static_cast<unsigned char>(rest_.front());
        rest_.remove_prefix(1);
        value |= std::uint64_t{byte & 127U} << shift;
        if (byte < 128) {
            return true;
        }
    }
    return false;
}

bool SystemDecoder::take(std::uint16_t type, std::span<const std::byte> bytes) {
    rest_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    if (type == record::systemObjects) {
        objects_ = rest_;
        return false;
    }
    if (type != record::systemComplete && type != record::systemChanges) {
        return false; // of a later version
    }
    std::uint64_t number = 0;
    const bool complete = type == record::systemComplete;
    if (!this->number(number)) {
        known_ = false;
        ++damaged_;
        return false;
    }
    if (!complete && (!known_ || number != number_ + 1)) {
        known_ = false;
        return false;
    }
    number_ = number;
    known_ = readSample(complete);
    damaged_ += known_ ? 0 : 1;
    return known_;
}

bool SystemDecoder::readSample(bool complete) {
    if (!number(sample_.time)) {
        return false;
    }
    for (std::uint64_t* const bytes :
         {&sample_.fixed, &sample_.stack, &sample_.trace, &sample_.lazy}) {
        if (!number(*bytes) || *bytes >= mostKib) {
            return false;
        }
        *bytes *= kib;
    }
    std::vector<SystemMapping> before;
    if (!complete) {
        before = std::move(sample_.mappings);
    }
    return readChanges(before);
}

bool SystemDecoder::readChanges(const std::vector<SystemMapping>& before) {
    std::vector<SystemMapping> now;
    std::size_t at = 0; // in the mappings before
    for (;;) {
        std::uint64_t change = 0;
        if (!number(change)) {
            return false;
        }
        if (change == 0) {
            sample_.mappings = std::move(now);
            return true;
        }
        if (!readChange(change, before, at, now)) {
            return false;
        }
    }
}

bool SystemDecoder::readChange(std::uint64_t change, const std::vector<SystemMapping>& before,
                               std::size_t& at, std::vector<SystemMapping>& now) {
    const std::uint64_t count = change >> 2;
    const std::uint64_t end = now.empty() ? 0 : now.back().end;
    if ((change & 3) == keep || (change & 3) == gone) {
        if (count > before.size() - at || ((change & 3) == keep && before[at].begin < end)) {
            return false;
        }
        const auto from = before.begin() + static_cast<std::ptrdiff_t>(at);
        if ((change & 3) == keep) {
            now.insert(now.end(), from, from + static_cast<std::ptrdiff_t>(count));
        }
        at += count;
        return true;
    }
    std::uint64_t begin = end + count * page;
    std::uint64_t length = count;
    if ((change & 3) == changed) {
        if (at == before.size()) {
            return false;
        }
        begin = before[at++].begin;
    } else if (!number(length)) {
        return false;
    }
    std::uint64_t resident = 0;
    if (begin < end || count >= highestPage || length >= highestPage ||
        begin > ~std::uint64_t{0} - length * page || !number(resident) || resident >= mostKib * 2) {
        return false;
    }
    now.push_back({begin, begin + length * page, resident / 2 * kib, resident % 2 != 0});
    return true;
}

} // namespace heapwright::trace

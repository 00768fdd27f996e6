// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See system.hpp. Writing compares two ascending lists; reading makes the second from the first.
#include <algorithm>
#include <trace/system.hpp>

namespace heapwright::trace {

namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t highestPage = std::uint64_t{1} << 52; // so that no sum overflows
constexpr std::uint64_t mostKib = std::uint64_t{1} << 53;

enum Record : char { sampleRecord = 1, objectsRecord = 2 };
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
            put(mapping.resident / kib, out);
        }
        old += known ? 1 : 0;
        end = mapping.end;
    }
    // What is left of the old ones is gone without being said.
}

} // namespace

void SystemEncoder::add(const SystemSample& sample, std::string& out) {
    out.push_back(sampleRecord);
    put(sample.time > last_.time ? sample.time - last_.time : 0, out);
    for (const std::uint64_t bytes : {sample.fixed, sample.stack, sample.trace, sample.lazy}) {
        put(bytes / kib, out);
    }
    putChanges(last_.mappings, sample.mappings, out);
    out.push_back('\0');
    const std::uint64_t time = std::max(last_.time, sample.time);
    last_ = sample;
    last_.time = time;
}

void SystemEncoder::addObjects(std::string_view paths, std::string& out) {
    out.push_back(objectsRecord);
    put(paths.size(), out);
    out += paths;
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

bool SystemDecoder::next() {
    while (!rest_.empty() && !damaged_) {
        const char record = rest_.front();
        rest_.remove_prefix(1);
        if (record == sampleRecord) {
            damaged_ = !readSample();
            return !damaged_;
        }
        damaged_ = record != objectsRecord || !readObjects();
    }
    return false;
}

bool SystemDecoder::readObjects() {
    std::uint64_t length = 0;
    if (!number(length) || length > rest_.size()) {
        return false;
    }
    objects_ = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return true;
}

bool SystemDecoder::readSample() {
    std::uint64_t delta = 0;
    if (!number(delta) || delta > ~sample_.time) {
        return false;
    }
    sample_.time += delta;
    for (std::uint64_t* const bytes :
         {&sample_.fixed, &sample_.stack, &sample_.trace, &sample_.lazy}) {
        if (!number(*bytes) || *bytes >= mostKib) {
            return false;
        }
        *bytes *= kib;
    }
    return readChanges();
}

bool SystemDecoder::readChanges() {
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
        if (!readChange(change, at, now)) {
            return false;
        }
    }
}

bool SystemDecoder::readChange(std::uint64_t change, std::size_t& at,
                               std::vector<SystemMapping>& now) {
    const std::vector<SystemMapping>& before = sample_.mappings;
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
        begin > ~std::uint64_t{0} - length * page || !number(resident) || resident >= mostKib) {
        return false;
    }
    now.push_back({begin, begin + length * page, resident * kib});
    return true;
}

} // namespace heapwright::trace

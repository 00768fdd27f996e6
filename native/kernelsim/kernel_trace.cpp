// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes kernel traces, a line at a time. Each live object is assigned a number.
// Cost: memory for the live objects and for the events.
#include "kernelsim/kernel_trace.hpp"

#include <heapwright/structure/kernel/page_section.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <istream>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heapwright::kernelsim {

namespace {

using Verb = Event::Verb;

constexpr std::string_view heading = "heapwright-kernel-trace";
constexpr std::string_view mobilityLetters = "umr";
constexpr std::uint64_t newestFormat = 1;

class Reader {
public:
    explicit Reader(std::istream& text) : text_(text) {}

    Traffic read() {
        readHead();
        while (next("the trace is cut off: its last line is not `end` and the number of events"))
            if (!readEvent())
                break;
        while (std::getline(text_, said_)) {
            ++line_;
            if (!said_.empty() && said_.front() != '#')
                fail("nothing may follow `end`");
        }
        if (traffic_.events.empty())
            fail("the trace is empty: there is no event in it");
        traffic_.places = dealt_;
        const auto begun = [](const Event& event) { return event.time != 0; };
        traffic_.prelude = static_cast<std::size_t>(
            std::find_if(traffic_.events.begin(), traffic_.events.end(), begun) -
            traffic_.events.begin());
        return std::move(traffic_);
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw TraceError("line " + std::to_string(line_) + ": " + what);
    }

    /// The next line that is not empty, as words.
    bool next(const std::string& missing) {
        while (std::getline(text_, said_)) {
            ++line_;
            if (said_.size() > longest)
                fail("the line is too long for a kernel trace");
            if (!said_.empty() && said_.front() != '#') {
                split();
                return true;
            }
        }
        ++line_;
        fail(missing);
    }

    void split() {
        words_.clear();
        for (std::size_t at = 0; at < said_.size();) {
            const std::size_t end = std::min(said_.find(' ', at), said_.size());
            if (end == at)
                fail("words have one blank between them");
            words_.push_back(std::string_view(said_).substr(at, end - at));
            at = end + 1;
        }
    }

    void expectWords(std::size_t count, const char* form) const {
        if (words_.size() != count)
            fail(std::string("expected `") + form + "`");
    }

    std::uint64_t number(std::size_t word, const char* what, std::uint64_t least,
                         std::uint64_t most, int base = 10) const {
        const std::string_view digits = words_[word];
        std::uint64_t value = 0;
        const char* const end = digits.data() + digits.size();
        const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
        if (error != std::errc() || stop != end || value < least || value > most)
            fail(std::string(what) + " is a " + (base == 16 ? "hexadecimal" : "whole") +
                 " number from " + std::to_string(least) + " to " + std::to_string(most) +
                 ", not " + std::string(digits));
        return value;
    }

    // --- the head ---

    void readHead() {
        next("the trace is empty");
        if (words_.front() != heading)
            fail("this is no kernel trace: it does not begin with " + std::string(heading));
        expectWords(2, "heapwright-kernel-trace 1");
        const std::uint64_t format = number(1, "the format", 0, UINT32_MAX);
        if (format != newestFormat)
            fail("this is a kernel trace of format " + std::to_string(format) +
                 "; this heapwright reads format 1");
        expect("kernel", "`kernel VERSION ALLOCATOR`");
        if (words_.size() < 2)
            fail("expected `kernel VERSION ALLOCATOR`");
        traffic_.kernel = said_.substr(static_cast<std::size_t>(words_[1].data() - said_.data()));
        expect("cpus", "`cpus N`");
        expectWords(2, "cpus N");
        traffic_.processors = number(1, "the number of processors", 1, mostProcessors);
        readMemory();
        while (next("expected `cache …` or `events`") && words_.front() == "cache")
            readCache();
        if (words_.front() != "events" || words_.size() != 1)
            fail("expected `cache …` or `events`");
    }

    void readMemory() {
        expect("memory", "`memory MIB` or `memory MIB FREE`");
        if (words_.size() != 2)
            expectWords(3, "memory MIB FREE");
        traffic_.memory = number(1, "the memory", 16, mostMemory);
        if (words_.size() == 2)
            return;
        constexpr std::uint64_t pagesInMebibyte = MiB / bytesOfPage;
        traffic_.freePages =
            number(2, "the number of free pages", 1, traffic_.memory * pagesInMebibyte);
    }

    void expect(std::string_view word, const std::string& form) {
        next("expected " + form);
        if (words_.front() != word)
            fail("expected " + form);
    }

    void readCache() {
        if (words_.size() < 6)
            fail("expected `cache NUMBER SIZE ALIGN FLAGS NAME`");
        const std::size_t known = traffic_.caches.size();
        if (known == mostCaches)
            fail("there are more than " + std::to_string(mostCaches) + " caches");
        number(1, "the number of the cache", known, known);
        CacheKind kind;
        kind.size = number(2, "the size", 1, mostObject);
        kind.align = number(3, "the alignment", 1, bytesOfPage);
        if (!std::has_single_bit(kind.align))
            fail("the alignment is a power of two");
        const std::string_view flags = words_[4];
        if (flags.size() != 2 || (flags[0] != 'c' && flags[0] != '-') ||
            (flags[1] != 'r' && flags[1] != '-'))
            fail("flags are c or -, and r or -");
        kind.constructed = flags[0] == 'c';
        kind.reclaimable = flags[1] == 'r';
        kind.name = said_.substr(static_cast<std::size_t>(words_[5].data() - said_.data()));
        traffic_.caches.push_back(std::move(kind));
    }

    // --- events ---

    bool readEvent() {
        const std::string_view verb = words_.front();
        if (verb == "end") {
            expectWords(2, "end COUNT");
            const std::uint64_t count = number(1, "the number of events", 0, mostEvents);
            if (count != traffic_.events.size())
                fail("there are " + std::to_string(traffic_.events.size()) + " events, not " +
                     std::to_string(count) + ": some are missing");
            return false;
        }
        if (traffic_.events.size() == mostEvents)
            fail("there are more than " + std::to_string(mostEvents) + " events");
        if (verb.size() != 1)
            fail("there is no event " + std::string(verb));
        Event event;
        switch (verb.front()) {
        case 'a':
        case 'm':
        case 'p':
            readTaking(event, verb.front());
            break;
        case 'f':
            expectWords(4, "f TIME CPU ID");
            readWhen(event);
            event.verb = Verb::give;
            event.place = placeGiven();
            break;
        case 's':
            expectWords(4, "s TIME CPU CACHE");
            readWhen(event);
            event.verb = Verb::shrink;
            event.what = words_[3] == "*" ? Event::allCaches : cacheAt(3);
            break;
        case 'k':
            readMark(event);
            break;
        default:
            fail("there is no event " + std::string(verb));
        }
        traffic_.events.push_back(event);
        return true;
    }

    void readTime(Event& event) {
        event.time = number(1, "the time", 0, UINT64_MAX);
        if (event.time < time_)
            fail("the time decreases, from " + std::to_string(time_) + " to " +
                 std::to_string(event.time));
        time_ = event.time;
    }

    void readWhen(Event& event) {
        readTime(event);
        event.processor =
            static_cast<std::uint8_t>(number(2, "the processor", 0, traffic_.processors - 1));
    }

    std::uint32_t cacheAt(std::size_t word) const {
        if (traffic_.caches.empty())
            fail("no cache is declared");
        return static_cast<std::uint32_t>(number(word, "the cache", 0, traffic_.caches.size() - 1));
    }

    void readTaking(Event& event, char letter) {
        if (letter == 'a') {
            expectWords(5, "a TIME CPU ID CACHE");
            event.verb = Verb::take;
            event.what = cacheAt(4);
        } else if (letter == 'm') {
            expectWords(5, "m TIME CPU ID SIZE");
            event.verb = Verb::general;
            event.what = static_cast<std::uint32_t>(number(4, "the size", 0, mostObject));
        } else {
            expectWords(6, "p TIME CPU ID ORDER MOBILITY");
            event.verb = Verb::pages;
            event.order = static_cast<std::uint8_t>(number(4, "the order", 0, pageOrders - 1));
            const std::size_t mobility =
                words_[5].size() == 1 ? mobilityLetters.find(words_[5].front()) : words_[5].size();
            if (mobility >= mobilityLetters.size())
                fail("the mobility is u, m or r, not " + std::string(words_[5]));
            event.mobility = static_cast<std::uint8_t>(mobility);
        }
        readWhen(event);
        event.place = spare_.empty() ? dealt_ : spare_.back();
        if (!live_.emplace(identityAt(3), event.place).second)
            fail(std::string(words_[3]) + " is live already");
        if (spare_.empty())
            ++dealt_;
        else
            spare_.pop_back();
    }

    std::uint64_t identityAt(std::size_t word) const {
        return number(word, "the identity", 0, UINT64_MAX, 16);
    }

    std::uint32_t placeGiven() {
        const auto found = live_.find(identityAt(3));
        if (found == live_.end())
            fail(std::string(words_[3]) + " is freed, and is not live");
        const std::uint32_t place = found->second;
        live_.erase(found);
        spare_.push_back(place);
        return place;
    }

    void readMark(Event& event) {
        expectWords(4, "k TIME SLAB_PAGES EVENTS");
        readTime(event);
        event.verb = Verb::mark;
        event.what = static_cast<std::uint32_t>(traffic_.marks.size());
        traffic_.marks.push_back({event.time, number(2, "the number of pages", 0, UINT32_MAX),
                                  number(3, "the number of events", 0, UINT64_MAX)});
    }

    static constexpr std::size_t longest = 4096;

    std::istream& text_;
    std::string said_;
    std::vector<std::string_view> words_;
    std::uint64_t line_ = 0;
    std::uint64_t time_ = 0;
    Traffic traffic_;
    std::unordered_map<std::uint64_t, std::uint32_t> live_;
    std::vector<std::uint32_t> spare_;
    std::uint32_t dealt_ = 0;
};

void writeEvent(const Traffic& traffic, const Event& event, std::ostream& text) {
    const auto head = [&](char letter) {
        text << letter << ' ' << event.time << ' ' << unsigned{event.processor};
        return ' ';
    };
    const auto identity = [&] { text << std::hex << event.place + 1 << std::dec; };
    switch (event.verb) {
    case Verb::take:
    case Verb::general:
        text << head(event.verb == Verb::take ? 'a' : 'm');
        identity();
        text << ' ' << event.what;
        break;
    case Verb::pages:
        text << head('p');
        identity();
        text << ' ' << unsigned{event.order} << ' ' << mobilityLetters[event.mobility];
        break;
    case Verb::give:
        text << head('f');
        identity();
        break;
    case Verb::shrink:
        text << head('s');
        if (event.what == Event::allCaches)
            text << '*';
        else
            text << event.what;
        break;
    case Verb::mark: {
        const Mark& mark = traffic.marks[event.what];
        text << "k " << event.time << ' ' << mark.slabPages << ' ' << mark.fallbacks;
        break;
    }
    case Verb::reclaim:
        break; // see the precondition
    }
    text << '\n';
}

} // namespace

Traffic readTrace(std::istream& text) {
    return Reader(text).read();
}

void writeTrace(const Traffic& traffic, std::ostream& text) {
    text << heading << " 1\nkernel " << (traffic.kernel.empty() ? "none drawn" : traffic.kernel)
         << "\ncpus " << traffic.processors << "\nmemory " << traffic.memory;
    if (traffic.freePages != 0)
        text << ' ' << traffic.freePages;
    text << '\n';
    for (std::size_t number = 0; number < traffic.caches.size(); ++number) {
        const CacheKind& kind = traffic.caches[number];
        text << "cache " << number << ' ' << kind.size << ' ' << kind.align << ' '
             << (kind.constructed ? 'c' : '-') << (kind.reclaimable ? 'r' : '-') << ' ' << kind.name
             << '\n';
    }
    text << "events\n";
    for (const Event& event : traffic.events)
        writeEvent(traffic, event, text);
    text << "end " << traffic.events.size() << '\n';
}

} // namespace heapwright::kernelsim

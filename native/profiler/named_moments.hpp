// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Moments as a user names them. `peak` and `end` are those of the live memory. `1.5` is seconds
// since the recording began. `50%` is a part of the time from the first call to the last. Anything
// else is the name of a mark; `NAME#2` is the second mark of this name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/json.hpp"
#include "profiler/moments.hpp"
#include "trace/reader.hpp"

namespace heapwright::profiler {

class NamedMoments {
public:
    /// Throws std::runtime_error for a name that is neither a time nor a mark of the process.
    NamedMoments(const trace::Trace& trace, std::uint32_t process, std::vector<std::string> names);

    /// The times, for the pass; without the peak, which is known after it.
    std::vector<std::uint64_t> times() const;
    bool hasPeak() const;

    /// All moments in the order of their names. `byTime` is what was seen at `times`.
    std::vector<NamedMoment> seen(const std::vector<Moment>& byTime, const Moment& peak) const;

    /// The array of the marks, 1,000 at most.
    static void writeMarks(Json& json, const trace::Trace& trace, std::uint32_t process);

private:
    struct Named {
        std::string name;
        bool isPeak;
        std::uint64_t time; ///< ns
    };
    std::vector<Named> named_;
};

} // namespace heapwright::profiler

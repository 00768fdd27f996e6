// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the input of a program: words and numbers separated by blanks. An invalid token throws
// `Error`, which names the last valid token. The caller bounds every number and so every list.
// A damaged text therefore costs no memory.
#pragma once

#include <cmath>
#include <cstdint>
#include <istream>
#include <string>
#include <utility>

namespace heapwright::synth {

template <class Error>
class TokenReader {
public:
    /// `what` the text is, for its errors: "the plan".
    TokenReader(std::istream& text, std::string what) : text_(text), what_(std::move(what)) {}

    std::string word() {
        std::string found;
        if (!(text_ >> found))
            fail("it ends there");
        return last_ = found;
    }

    void expect(const std::string& wanted) {
        std::string found;
        if (!(text_ >> found) || found != wanted)
            fail("expected '" + wanted + "'" + (found.empty() ? "" : ", found '" + found + "'"));
        last_ = wanted;
    }

    std::uint64_t whole(std::uint64_t least, std::uint64_t most) {
        std::uint64_t value = 0;
        // An extraction takes "-1" for a large number.
        if ((text_ >> std::ws).peek() == '-' || !(text_ >> value) || value < least || value > most)
            fail("expected a whole number from " + std::to_string(least) + " to " +
                 std::to_string(most));
        return value;
    }

    double real(double most) {
        double value = 0;
        if (!(text_ >> value) || !std::isfinite(value) || value < 0 || value > most)
            fail("expected a number from 0 to " + std::to_string(most));
        return value;
    }

    [[noreturn]] void fail(const std::string& why) const {
        throw Error(what_ + " makes no sense after '" + last_ + "': " + why);
    }

private:
    std::istream& text_;
    std::string what_;
    std::string last_ = "the beginning";
};

} // namespace heapwright::synth

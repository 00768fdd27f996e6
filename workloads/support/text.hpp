// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Text built without the allocator under test, and written as a whole: one JSON line.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

/// A growing text in mapped memory, with the JSON that the results need. Keys and texts are
/// constants of the programs, so they need no escapes. User input is never printed here.
class Text {
public:
    Text() = default;
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;

    Text& add(const char* text);
    Text& number(std::uint64_t value);
    Text& number(double value);

    /// Writes `"key":`, after a comma if needed.
    Text& key(const char* name);
    Text& quoted(const char* text);
    Text& open(char bracket);
    Text& close(char bracket);
    /// A comma between the elements of a list.
    Text& next();

    bool writeTo(int descriptor);

    /// The text so far, with a null at its end; valid until more is added.
    const char* text();

private:
    void append(const char* text, std::size_t length);

    char* text_ = nullptr;
    std::size_t length_ = 0;
    std::size_t room_ = 0;
    bool first_ = true; ///< nothing follows the last opening bracket yet
};

} // namespace heapwright::workloads

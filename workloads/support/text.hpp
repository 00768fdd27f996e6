// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Text that is put together without the allocator under test, and written whole: one JSON line.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::workloads {

/// A growing text in mapped memory, with as much of JSON as the results need. Keys and texts are
/// the programs' own, so nothing has to be escaped but what a user typed, which is never printed
/// here.
class Text {
public:
    Text() = default;
    Text(const Text&) = delete;
    Text& operator=(const Text&) = delete;

    Text& add(const char* text);
    Text& number(std::uint64_t value);
    Text& number(double value);

    /// `"key":` with a comma before it where one is due.
    Text& key(const char* name);
    Text& quoted(const char* text);
    Text& open(char bracket);
    Text& close(char bracket);
    /// A comma between the elements of a list.
    Text& next();

    bool writeTo(int descriptor);

    /// All of it so far, a null at the end; good until more is added.
    const char* text();

private:
    void append(const char* text, std::size_t length);

    char* text_ = nullptr;
    std::size_t length_ = 0;
    std::size_t room_ = 0;
    bool first_ = true; ///< nothing stands yet behind the last opening bracket
};

} // namespace heapwright::workloads

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The requested bytes that are live after each operation of the replay, written as lines of
// `operation,live_bytes,live_objects`. An operation is one recorded call, whether it could be
// replayed or not. With several threads the order is the one in which they come here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::replayer {

class Curve {
public:
    /// Takes over the descriptor.
    explicit Curve(int descriptor);

    /// The bytes and objects that came and went, and whether that ends an operation.
    void change(std::int64_t bytes, std::int64_t objects, bool operation);
    void flush();

private:
    static constexpr std::size_t room = std::size_t{256} << 10;

    int descriptor_;
    char* text_;
    std::size_t used_ = 0;
    std::int64_t bytes_ = 0;
    std::int64_t objects_ = 0;
    std::uint64_t operation_ = 0;
};

} // namespace heapwright::replayer

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The events of a counting build of an allocator of ours, if that is what is preloaded: how often
// it took a lock, and so on, between two moments. Other allocators have no such symbol.
#pragma once

namespace heapwright::workloads {

class Text;

class Events {
public:
    /// From now on.
    Events();
    /// Until now.
    void stop();
    /// The key `events`, if the allocator counts any.
    void describe(Text& text) const;

private:
    static constexpr unsigned most = 16;
    bool counting_ = false;
    unsigned long long count_[most] = {};
};

} // namespace heapwright::workloads

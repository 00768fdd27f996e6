// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The control file: a user writes `on` or `off` (or 1 or 0) into it to turn recording on or off.
// The launcher reads it every few milliseconds. Other content changes nothing, so a half-written
// file does no harm.
#pragma once

#include <optional>
#include <string>

namespace heapwright::recorder::launch {

class ControlFile {
public:
    explicit ControlFile(const char* path) : path_(path) {}

    /// What it says now, if that is not what it said the last time.
    std::optional<bool> change();

private:
    const char* path_;
    std::optional<bool> last_;
};

} // namespace heapwright::recorder::launch

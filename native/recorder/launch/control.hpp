// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The control file: whoever writes `on` or `off` (or 1 or 0) into it turns recording on or off. It
// is looked at every few milliseconds; what is not one of these words changes nothing, so a file
// that is being written does no harm.
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

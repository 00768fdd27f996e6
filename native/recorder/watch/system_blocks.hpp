// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The blocks of the observations of one process. As in all blocks, published data counts at once. A
// reader has all of it, also during the run and after this program was killed. The first block has
// 4 KiB, each further one twice as much, up to 64 KiB. A record that needs more gets up to 1 MiB.
#pragma once

#include "trace/system.hpp"
#include "trace_file.hpp"

#include <string>

namespace heapwright::recorder::watch {

class SystemBlocks {
public:
    SystemBlocks(TraceFile& file, std::uint32_t process) : file_(&file), process_(process) {}
    ~SystemBlocks() { seal(); }
    SystemBlocks(const SystemBlocks&) = delete;
    SystemBlocks& operator=(const SystemBlocks&) = delete;

    /// False if there is no room for it, now and later.
    bool add(const trace::SystemSample& sample);
    /// False if it does not fit behind the samples of this block: try again with a later one.
    bool addObjects(const std::string& paths);

private:
    bool put(std::uint16_t type, const std::string& bytes);
    bool begin(std::size_t needed);
    void seal();
    std::size_t room() const;

    TraceFile* file_;
    std::uint32_t process_;
    std::uint32_t sequence_ = 0;
    trace::BlockHeader* block_ = nullptr;
    std::uint64_t lastTime_ = 0;
    trace::SystemEncoder encoder_;
};

} // namespace heapwright::recorder::watch

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "trace/writer.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <system_error>
#include <unistd.h>

#include "trace/blocks.hpp"

namespace heapwright::trace {

namespace {

/// A block's memory: zero, and aligned as a mapping would be.
struct Page {
    alignas(64) std::byte bytes[pageSize];
};
using Memory = std::vector<Page>;

/// The least shift for which the block holds so much payload.
unsigned shiftFor(std::size_t payload) {
    const std::size_t pages = (payload + sizeof(BlockHeader) + pageSize - 1) / pageSize;
    return static_cast<unsigned>(std::bit_width(pages - 1));
}

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

struct TraceWriter::Thread {
    std::uint32_t process = 0;
    std::uint32_t sequence = 0;
    unsigned shift = 0; ///< of its next block
    bool ended = false;
    Encoder encoder{};
    Memory memory;
    std::vector<std::uint64_t> tables; ///< of the encoder, with stacks
};

struct TraceWriter::Records {
    BlockKind kind;
    std::uint32_t process;
    std::uint32_t sequence = 0;
    Memory memory;
    BlockHeader* block = nullptr;
};

TraceWriter::TraceWriter(const std::string& path, const WriterOptions& options)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)),
      header_(newHeader(options.clock, 0, options.ticksPerSecond, 0, options.startUtc)) {
    if (file_ < 0)
        throw std::system_error(errno, std::generic_category(), path);
    header_.flags = options.flags;
    header_.sampleInterval = options.sampleInterval;
    header_.sampleSalt = options.sampleSalt;
    header_.recording = 0;
    sealHeader(header_);
    __extension__ using Wide = unsigned __int128;
    // Rounded up, so that whole ticks come back as they were.
    ticksPerNs_ = static_cast<std::uint64_t>(((Wide{options.ticksPerSecond} << 32) + 999'999'999) /
                                             1'000'000'000);
    const Memory page(1);
    write(page.front().bytes, pageSize, 0);
    write(reinterpret_cast<const std::byte*>(&header_), sizeof header_, 0);
}

TraceWriter::~TraceWriter() {
    if (file_ >= 0)
        ::close(file_);
}

std::uint64_t TraceWriter::ticks(std::uint64_t nanoseconds) const {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{nanoseconds} * ticksPerNs_) >> 32);
}

void TraceWriter::write(const std::byte* bytes, std::size_t count, std::uint64_t where) {
    while (count > 0) {
        const ssize_t done = ::pwrite(file_, bytes, count, static_cast<off_t>(where));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            fail("the trace could not be written");
        bytes += done;
        where += static_cast<std::uint64_t>(done);
        count -= static_cast<std::size_t>(done);
    }
}

void TraceWriter::append(const std::byte* block, std::size_t count) {
    write(block, count, header_.claimed);
    header_.claimed += count;
    header_.reserved = header_.claimed;
}

std::uint32_t TraceWriter::process(const ProcessText& process) {
    const std::uint32_t number = header_.processes++;
    std::string arguments;
    for (const std::string& argument : process.arguments)
        arguments.append(argument).push_back('\0');
    // A record must fit into a block; so long a command line is cut.
    arguments.resize(std::min(arguments.size(), std::size_t{32} << 10));
    const ProcessStart start{number,
                             process.parent,
                             process.pid,
                             process.cause,
                             ticks(process.start),
                             process.forkingThread,
                             static_cast<std::uint32_t>(process.executable.size()),
                             static_cast<std::uint32_t>(arguments.size()),
                             0};
    std::vector<std::byte> bytes(sizeof start + process.executable.size() + arguments.size());
    std::memcpy(bytes.data(), &start, sizeof start);
    std::memcpy(bytes.data() + sizeof start, process.executable.data(), process.executable.size());
    std::memcpy(bytes.data() + sizeof start + process.executable.size(), arguments.data(),
                arguments.size());
    record(BlockKind::process, number, record::processStart, bytes);
    return number;
}

std::uint32_t TraceWriter::thread(std::uint32_t process) {
    if (process >= header_.processes)
        throw std::invalid_argument("a thread of an unknown process");
    threads_.push_back(std::make_unique<Thread>());
    threads_.back()->process = process;
    return header_.threads++;
}

void TraceWriter::begin(std::uint32_t number, Thread& thread, std::uint64_t time) {
    thread.memory.assign(std::size_t{1} << thread.shift, Page{});
    const bool stacks = (header_.flags & flag::stacks) != 0;
    const unsigned bits = stacks ? coding::StackTables::bitsFor(thread.shift) : 0;
    if (stacks)
        thread.tables.resize(coding::StackTables::bytes(bits) / sizeof(std::uint64_t));
    thread.encoder.open(thread.memory.data(),
                        {.process = thread.process,
                         .thread = number,
                         .sequence = thread.sequence++,
                         .threadId = number,
                         .sizeShift = static_cast<std::uint8_t>(thread.shift),
                         .stackBits = static_cast<std::uint8_t>(bits),
                         .startTicks = 0,
                         .tables = thread.tables.data()},
                        time);
    if ((pageSize << thread.shift) < (stacks ? stackBlockSize : threadBlockSize))
        ++thread.shift;
}

void TraceWriter::add(const Event& event) {
    Thread& thread = *threads_.at(event.thread);
    const std::uint64_t time = ticks(event.time);
    const std::uint64_t began = isRealloc(event.routine) ? ticks(event.began) : time;
    Encoder& encoder = thread.encoder;
    if (!encoder.hasRoom()) {
        if (thread.ended)
            throw std::invalid_argument("an event of a thread that has ended");
        seal(thread, false);
        begin(event.thread, thread, std::min(began, time));
    }
    if (isRealloc(event.routine))
        encoder.reallocated(event.routine, began, time, event.old, event.address, event.size,
                            event.usable, event.stack);
    else if (isFree(event.routine))
        encoder.freed(event.routine, time, event.address);
    else
        encoder.allocated(event.routine, time, event.address, event.size, event.usable, event.stack,
                          event.alignment);
    ++events_;
    last_ = std::max(last_, time);
}

void TraceWriter::seal(Thread& thread, bool ended) {
    Encoder& encoder = thread.encoder;
    BlockHeader* const block = encoder.block();
    if (block == nullptr)
        return;
    // A block need not be larger than its contents.
    block->sizeShift = static_cast<std::uint8_t>(shiftFor(encoder.used()));
    encoder.seal(ended);
    append(thread.memory.front().bytes, pageSize << block->sizeShift);
}

void TraceWriter::endThread(std::uint32_t number) {
    Thread& thread = *threads_.at(number);
    seal(thread, true);
    thread.ended = true;
    Memory().swap(thread.memory);
}

void TraceWriter::seal(Records& records) {
    if (records.block == nullptr)
        return;
    const auto used = static_cast<std::uint32_t>(records.block->published);
    records.block->sizeShift = static_cast<std::uint8_t>(shiftFor(used));
    sealRecords(*records.block, last_);
    append(records.memory.front().bytes, pageSize << records.block->sizeShift);
    records.block = nullptr;
}

void TraceWriter::record(BlockKind kind, std::uint32_t process, std::uint16_t type,
                         std::span<const std::byte> bytes) {
    const auto same = [&](const std::unique_ptr<Records>& records) {
        return records->kind == kind && records->process == process;
    };
    auto found = std::find_if(records_.begin(), records_.end(), same);
    if (found == records_.end()) {
        records_.push_back(std::make_unique<Records>(Records{kind, process, 0, {}, nullptr}));
        found = records_.end() - 1;
    }
    Records& records = **found;
    const Piece piece{bytes.data(), bytes.size()};
    if (records.block != nullptr && appendRecord(*records.block, type, piece))
        return;
    seal(records);
    const unsigned shift = std::max(4U, shiftFor(bytes.size() + sizeof(RecordHeader)));
    if ((pageSize << shift) > maxBlockSize)
        throw std::invalid_argument("a record that is too large");
    records.memory.assign(std::size_t{1} << shift, Page{});
    records.block =
        beginRecords(records.memory.data(), kind, shift, process, records.sequence++, last_);
    appendRecord(*records.block, type, piece);
}

void TraceWriter::close() {
    for (const auto& thread : threads_)
        seal(*thread, true);
    for (const auto& records : records_)
        seal(*records);
    header_.closed = 1;
    write(reinterpret_cast<const std::byte*>(&header_), sizeof header_, 0);
    const int file = file_;
    file_ = -1;
    if (::close(file) != 0)
        fail("the trace could not be written");
}

} // namespace heapwright::trace

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace as a .wl workload. Its numbers stand for blocks that are live at a time, so a
// number is given again once its block is gone. Where a thread touches a number that another one
// touched last, the other's stream gets a signal and this one's a wait. The streams grow in pieces,
// in one temporary file; memory is that of live blocks and of one piece for each thread.
//
// What the format cannot say is left out and counted: times, stacks, and the frees of what was
// never given out. Aligned forms are MEMALIGN, operator new is MALLOC.
#include <cerrno>
#include <cinttypes>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/program/import/wl_stream.hpp"
#include "trace/program/program.hpp"

namespace heapwright::trace {

namespace {

using wl::Op;

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

void putNumber(std::vector<unsigned char>& bytes, std::uint64_t value) {
    unsigned shift = 0;
    while (shift < 63 && value >> (shift + 7) != 0)
        shift += 7;
    for (; shift > 0; shift -= 7)
        bytes.push_back(static_cast<unsigned char>(128 | ((value >> shift) & 127)));
    bytes.push_back(static_cast<unsigned char>(value & 127));
}

/// Streams that grow side by side in one file: each is a chain of pieces.
class Streams {
public:
    Streams() : file_(std::tmpfile(), std::fclose) {
        if (!file_)
            fail("a temporary file");
    }

    template <typename... Operands>
    void put(std::uint32_t stream, Op op, Operands... operands) {
        if (stream >= streams_.size())
            streams_.resize(stream + 1);
        std::vector<unsigned char>& bytes = streams_[stream].piece;
        bytes.push_back(static_cast<unsigned char>(op));
        (putNumber(bytes, operands), ...);
        if (bytes.size() >= pieceSize)
            spill(streams_[stream]);
    }

    std::size_t count() const { return streams_.size(); }
    std::uint64_t size(std::size_t stream) const {
        return streams_[stream].spilled + streams_[stream].piece.size();
    }

    void copy(std::size_t stream, std::FILE* to) {
        std::vector<unsigned char> bytes;
        for (const Piece& piece : streams_[stream].pieces) {
            bytes.resize(piece.size);
            if (std::fseek(file_.get(), static_cast<long>(piece.offset), SEEK_SET) != 0 ||
                std::fread(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size())
                fail("a temporary file");
            std::fwrite(bytes.data(), 1, bytes.size(), to);
        }
        const auto& last = streams_[stream].piece;
        std::fwrite(last.data(), 1, last.size(), to);
    }

private:
    static constexpr std::size_t pieceSize = 16 << 10;
    struct Piece {
        std::uint64_t offset;
        std::size_t size;
    };
    struct One {
        std::vector<unsigned char> piece;
        std::vector<Piece> pieces;
        std::uint64_t spilled = 0;
    };

    void spill(One& stream) {
        const std::size_t size = stream.piece.size();
        if (std::fwrite(stream.piece.data(), 1, size, file_.get()) != size)
            fail("a temporary file");
        stream.pieces.push_back({end_, size});
        end_ += size;
        stream.spilled += size;
        stream.piece.clear();
    }

    File file_;
    std::uint64_t end_ = 0;
    std::vector<One> streams_;
};

class Writer {
public:
    void add(const Event& event) {
        const std::uint32_t thread = threadOf(event.thread);
        if (event.routine == Routine::release)
            threads_[thread].moving = take(thread, event.address);
        else if (isFree(event.routine))
            release(thread, event.address);
        else if (isRealloc(event.routine))
            reallocate(thread, event);
        else
            allocate(thread, event);
    }

    void finish(std::FILE* to) {
        for (std::uint32_t stream = 0; stream < streams_.count(); ++stream)
            streams_.put(stream, Op::done);
        std::vector<unsigned char> main = head(0);
        // The offsets are part of what they count: as long as they get longer, again.
        for (std::size_t size = 0; size != main.size();) {
            size = main.size();
            main = head(size);
        }
        std::fwrite(main.data(), 1, main.size(), to);
        for (std::size_t stream = 0; stream < streams_.count(); ++stream)
            streams_.copy(stream, to);
    }

    std::uint64_t unknown() const { return unknown_; }
    std::uint64_t signals() const { return signals_; }
    std::size_t threads() const { return streams_.count(); }
    std::uint64_t replaced() const { return replaced_; }

private:
    struct Block {
        std::uint64_t id;
        std::uint32_t owner; ///< the thread that touched it last
    };

    struct Thread {
        std::vector<std::uint64_t> spare; ///< numbers that it may give again
        std::uint64_t moving = 0;         ///< the old block of a realloc that has not returned
    };

    std::uint32_t threadOf(std::uint32_t thread) {
        const auto number = static_cast<std::uint32_t>(numbers_.size());
        const auto [found, isNew] = numbers_.try_emplace(thread, number);
        if (isNew)
            threads_.emplace_back();
        return found->second;
    }

    void handOver(std::uint32_t from, std::uint32_t to) {
        if (from == to)
            return;
        ++signals_;
        streams_.put(from, Op::signal, signals_);
        streams_.put(to, Op::wait, signals_);
    }

    /// The number of a block that goes; 0 if there is none.
    std::uint64_t take(std::uint32_t thread, std::uint64_t address) {
        const auto found = live_.find(address);
        if (found == live_.end())
            return 0;
        handOver(found->second.owner, thread);
        const std::uint64_t id = found->second.id;
        live_.erase(found);
        return id;
    }

    /// The number may be given again: first by this thread, which needs no signal for it.
    void spare(std::uint32_t thread, std::uint64_t id) {
        constexpr std::size_t most = 4096;
        if (threads_[thread].spare.size() < most)
            threads_[thread].spare.push_back(id);
        else
            spare_.push_back({id, thread});
    }

    std::uint64_t number(std::uint32_t thread) {
        std::vector<std::uint64_t>& own = threads_[thread].spare;
        if (own.empty() && spare_.empty())
            return ++ids_;
        if (own.empty()) {
            const Block block = spare_.back();
            spare_.pop_back();
            handOver(block.owner, thread);
            return block.id;
        }
        const std::uint64_t id = own.back();
        own.pop_back();
        return id;
    }

    /// A number for a block that came; 0 for a call that failed.
    std::uint64_t give(std::uint32_t thread, std::uint64_t address) {
        if (address == 0)
            return 0;
        if (live_.contains(address)) { // its free was not recorded
            ++replaced_;
            release(thread, address);
        }
        const std::uint64_t id = number(thread);
        live_.emplace(address, Block{id, thread});
        return id;
    }

    void release(std::uint32_t thread, std::uint64_t address) {
        const std::uint64_t id = address == 0 ? 0 : take(thread, address);
        if (address != 0 && id == 0) {
            ++unknown_;
            return;
        }
        streams_.put(thread, Op::free, id);
        if (id != 0)
            spare(thread, id);
    }

    void allocate(std::uint32_t thread, const Event& event) {
        const std::uint64_t id = give(thread, event.address);
        if (event.routine == Routine::calloc)
            streams_.put(thread, Op::calloc, id, event.size);
        else if (event.routine == Routine::valloc)
            streams_.put(thread, Op::valloc, id, event.size);
        else if (event.routine == Routine::pvalloc)
            streams_.put(thread, Op::pvalloc, id, event.size);
        else if (hasAlignment(event.routine))
            streams_.put(thread, Op::memalign, id, event.alignment, event.size);
        else
            streams_.put(thread, Op::malloc, id, event.size);
    }

    void reallocate(std::uint32_t thread, const Event& event) {
        const bool gone = event.address != 0 || event.size == 0;
        if (!gone)
            return; // it failed: nothing came and nothing went
        std::uint64_t old = std::exchange(threads_[thread].moving, 0);
        if (old == 0 && event.old != 0)
            old = take(thread, event.old); // it stays where it is, or was never seen
        unknown_ += event.old != 0 && old == 0 ? 1 : 0;
        const std::uint64_t id = give(thread, event.address);
        streams_.put(thread, Op::realloc, id, old, event.size);
        if (old != 0)
            spare(thread, old);
    }

    std::vector<unsigned char> head(std::size_t size) const {
        std::vector<unsigned char> bytes;
        const auto put = [&bytes](Op op, std::uint64_t operand) {
            bytes.push_back(static_cast<unsigned char>(op));
            putNumber(bytes, operand);
        };
        put(Op::pointers, ids_ + 1);
        put(Op::signals, signals_ + 1);
        put(Op::threads, streams_.count());
        std::uint64_t offset = size;
        for (std::size_t stream = 0; stream < streams_.count(); ++stream) {
            put(Op::start, offset);
            offset += streams_.size(stream);
        }
        bytes.push_back(static_cast<unsigned char>(Op::done));
        return bytes;
    }

    Streams streams_;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers_; ///< of the streams, by thread
    std::unordered_map<std::uint64_t, Block> live_;
    std::vector<Thread> threads_;
    std::vector<Block> spare_; ///< numbers that every thread may give again
    std::uint64_t ids_ = 0;
    std::uint64_t signals_ = 0;
    std::uint64_t unknown_ = 0;
    std::uint64_t replaced_ = 0;
};

} // namespace

void exportWl(const Trace& trace, const Selection& selection, const std::string& to,
              std::FILE* out) {
    Writer writer;
    MergedEvents events(trace, {.process = selection.process, .splitMoves = true});
    std::uint64_t count = 0;
    for (Event event; events.next(event);) {
        writer.add(event);
        count += event.routine == Routine::release ? 0 : 1;
    }
    const File file(std::fopen(to.c_str(), "wb"), std::fclose);
    if (!file)
        fail(to);
    writer.finish(file.get());
    if (std::fflush(file.get()) != 0 || std::ferror(file.get()) != 0)
        fail(to);
    std::fprintf(out,
                 "{\"events\": %" PRIu64 ", \"threads\": %zu, \"signals\": %" PRIu64
                 ", \"unknown_frees\": %" PRIu64 ", \"replaced\": %" PRIu64
                 ", \"fault_count\": %" PRIu64 "}\n",
                 count, writer.threads(), writer.signals(), writer.unknown(), writer.replaced(),
                 trace.faultCount());
}

} // namespace heapwright::trace

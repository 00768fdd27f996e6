// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See writer.hpp.
#include "writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace heapwright::replayer {

namespace {

constexpr std::size_t wordBytes = sizeof(std::uint64_t);
constexpr std::size_t headerWords = sizeof(ChunkHeader) / wordBytes;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

} // namespace

PlanWriter::PlanWriter(const std::string& path, std::size_t threads)
    : file_(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
      end_(smallestChunk), streams_(threads) {
    if (file_ < 0) {
        fail("the plan's file cannot be made");
    }
}

PlanWriter::~PlanWriter() {
    if (file_ >= 0) {
        ::close(file_);
    }
}

void PlanWriter::open(Stream& stream) {
    stream.offset = end_;
    end_ += stream.room;
    stream.words.assign(headerWords, 0);
    stream.bytes += stream.room;
    if (stream.first == 0) {
        stream.first = stream.offset;
        stream.firstBytes = stream.room;
    }
}

void PlanWriter::add(std::size_t thread, std::span<const std::uint64_t> words) {
    Stream& stream = streams_[thread];
    if (stream.words.empty()) {
        open(stream);
    } else if ((stream.words.size() + words.size() + 1) * wordBytes > stream.room) {
        seal(stream, false); // with room for the one word that says `more`, or `end`
    }
    stream.words.insert(stream.words.end(), words.begin(), words.end());
}

void PlanWriter::seal(Stream& stream, bool last) {
    stream.words.push_back(controlWord(last ? Control::end : Control::more, 0));
    ChunkHeader header{};
    const std::size_t room = std::min(2 * stream.room, largestChunk);
    if (!last) {
        header = {.next = end_, .nextBytes = room};
    }
    std::memcpy(stream.words.data(), &header, sizeof header);
    write(stream.words.data(), stream.words.size() * wordBytes, stream.offset);
    if (!last) {
        stream.room = room;
        open(stream);
    }
}

void PlanWriter::write(const void* bytes, std::size_t length, std::uint64_t offset) {
    const char* at = static_cast<const char*>(bytes);
    while (length > 0) {
        const ssize_t written = ::pwrite(file_, at, length, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            fail("the plan cannot be written");
        }
        at += written;
        offset += static_cast<std::uint64_t>(written);
        length -= static_cast<std::size_t>(written);
    }
}

PlanHeader PlanWriter::close(PlanHeader header, std::vector<PlanThread> directory) {
    for (std::size_t at = 0; at < streams_.size(); ++at) {
        Stream& stream = streams_[at];
        if (stream.words.empty()) {
            open(stream);
        }
        seal(stream, true);
        directory[at].chunk = stream.first;
        directory[at].chunkBytes = stream.firstBytes;
        directory[at].allBytes = stream.bytes;
        std::vector<std::uint64_t>().swap(stream.words);
    }
    std::memcpy(header.magic, planMagic, sizeof planMagic);
    header.threads = directory.size();
    header.directory = end_;
    header.bytes = end_ + directory.size() * sizeof(PlanThread);
    write(directory.data(), directory.size() * sizeof(PlanThread), end_);
    write(&header, sizeof header, 0);
    if (::close(std::exchange(file_, -1)) != 0) {
        fail("the plan cannot be written");
    }
    return header;
}

} // namespace heapwright::replayer

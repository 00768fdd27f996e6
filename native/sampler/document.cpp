// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Writes the samples as a document. src/heapwright/artefacts/stacks/sampler.py reads it:
//
//     heapwright samples 1
//     mean 524288                 bytes between two samples, on average
//     process 4711
//     program /usr/bin/example    the rest of the line
//     reason exit                 or signal, interval, threshold
//     lost 0                      samples that had no room
//     label 1 tenant              a number, and the rest of the line
//     @ 1 0x55d0c2a0 0x55d0c3b1   label and return addresses, innermost first
//      4096 2 7 3                 size; samples that are live, all, and those live at the peak
//     MAPPED_LIBRARIES:           the mappings of code, as in /proc/PID/maps
//
// The samples are copied under the lock and written without it. The document gets its name when it
// is complete. A full disk leaves no part of it.
#include "recorder/stacks/stacks.hpp"
#include "sampling.hpp"

#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/output.hpp>
#include <heapwright/platform/pages.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::sampler {

namespace {

constexpr std::size_t longestPath = 600;
constexpr std::size_t mostFrames = 1024;

/// Text on its way to a file.
class Output {
public:
    explicit Output(int file) noexcept : file_(file) {}

    [[nodiscard]] bool good() const noexcept { return good_; }

    void text(std::string_view text) noexcept {
        while (!text.empty()) {
            const std::size_t part = std::min(text.size(), sizeof buffer_ - used_);
            std::memcpy(buffer_ + used_, text.data(), part);
            used_ += part;
            text.remove_prefix(part);
            if (used_ == sizeof buffer_) {
                flush();
            }
        }
    }

    void number(std::uint64_t value, unsigned base = 10) noexcept {
        char digits[24];
        std::size_t at = sizeof digits;
        do {
            digits[--at] = "0123456789abcdef"[value % base];
            value /= base;
        } while (value != 0);
        text({digits + at, sizeof digits - at});
    }

    void flush() noexcept {
        good_ = good_ && platform::writeAll(file_, buffer_, used_);
        used_ = 0;
    }

private:
    int file_;
    bool good_ = true;
    std::size_t used_ = 0;
    char buffer_[32 << 10];
};

/// What a document needs while it is written. Too large for the stack of a signal handler.
struct Draft {
    explicit Draft(int file) noexcept : output(file) {}

    Output output;
    std::uint64_t addresses[mostFrames];
    char path[longestPath];
    char part[longestPath];
    char line[8 << 10];
    std::size_t count;
    Record records[Samples::mostRecords];
};

struct PathText {
    char* at;

    void text(std::string_view text) noexcept {
        std::memcpy(at, text.data(), text.size());
        at += text.size();
    }
    void number(std::uint32_t value) noexcept {
        char digits[12];
        std::size_t place = sizeof digits;
        do {
            digits[--place] = static_cast<char>('0' + value % 10);
            value /= 10;
        } while (value != 0);
        text({digits + place, sizeof digits - place});
    }
};

/// PREFIX.PID.NUMBER.samples
void makePath(char* path, std::uint32_t number, std::string_view end) noexcept {
    PathText text{path};
    text.text(process.settings.prefix);
    text.text(".");
    text.number(process.pid.load());
    text.text(".");
    text.number(number);
    text.text(end);
    *text.at = 0;
}

const char* wordOf(Reason reason) noexcept {
    switch (reason) {
    case Reason::signal:
        return "signal";
    case Reason::interval:
        return "interval";
    case Reason::threshold:
        return "threshold";
    default:
        return "exit";
    }
}

/// One line each, because a name may have a line end.
void writeLine(Output& output, std::string_view head, const char* text) noexcept {
    output.text(head);
    for (; text != nullptr && *text != 0; ++text) {
        const char byte = static_cast<unsigned char>(*text) < ' ' ? '?' : *text;
        output.text({&byte, 1});
    }
    output.text("\n");
}

void writeHead(Output& output, Reason reason) noexcept {
    output.text("heapwright samples 1\nmean ");
    output.number(process.settings.mean);
    output.text("\nprocess ");
    output.number(process.pid.load());
    writeLine(output, "\nprogram ", program_invocation_name);
    writeLine(output, "reason ", wordOf(reason));
    output.text("lost ");
    output.number(process.lost.load());
    output.text("\n");
    for (std::uint32_t label = 1; label < labelCount(); ++label) {
        output.text("label ");
        output.number(label);
        writeLine(output, " ", labelText(label));
    }
}

bool sameStack(const Record& one, const Record& other) noexcept {
    return one.stack == other.stack && one.label == other.label;
}

void writeSamples(Draft& draft) noexcept {
    std::sort(draft.records, draft.records + draft.count,
              [](const Record& one, const Record& other) {
                  return one.stack != other.stack   ? one.stack < other.stack
                         : one.label != other.label ? one.label < other.label
                                                    : one.size < other.size;
              });
    Output& output = draft.output;
    const Record* before = nullptr;
    for (const Record* record = draft.records; record != draft.records + draft.count; ++record) {
        if (record->live == 0 && record->made == 0 && record->atPeak == 0) {
            continue;
        }
        if (before == nullptr || !sameStack(*before, *record)) {
            output.text("@ ");
            output.number(record->label);
            const std::size_t frames =
                recorder::stacks::addressesOf(record->stack, draft.addresses, mostFrames);
            for (std::size_t i = 0; i < frames; ++i) {
                output.text(" 0x");
                output.number(draft.addresses[i], 16);
            }
            output.text("\n");
        }
        before = record;
        output.text(" ");
        output.number(record->size);
        output.text(" ");
        output.number(record->live);
        output.text(" ");
        output.number(record->made);
        output.text(" ");
        output.number(record->atPeak);
        output.text("\n");
    }
}

/// Whether a line of /proc/self/maps is of code from a file: `BEGIN-END r-xp … /path`.
bool isCode(std::string_view line) noexcept {
    const std::size_t rights = line.find(' ');
    return rights != std::string_view::npos && rights + 3 < line.size() &&
           line[rights + 3] == 'x' && line.find('/') != std::string_view::npos;
}

bool writeMappings(Draft& draft) noexcept {
    draft.output.text("MAPPED_LIBRARIES:\n");
    const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (maps < 0) {
        return false;
    }
    std::size_t used = 0;
    for (;;) {
        const ::ssize_t count = ::read(maps, draft.line + used, sizeof draft.line - used);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count <= 0) {
            break;
        }
        used += static_cast<std::size_t>(count);
        std::string_view rest(draft.line, used);
        for (std::size_t end = rest.find('\n'); end != std::string_view::npos;
             end = rest.find('\n')) {
            // Not substr(): without optimisation it needs the C++ library, for its exception.
            if (isCode({rest.data(), end})) {
                draft.output.text({rest.data(), end + 1});
            }
            rest.remove_prefix(end + 1);
        }
        used = rest.size() < sizeof draft.line ? rest.size() : 0; // no path is as long
        std::memmove(draft.line, rest.data(), used);
    }
    ::close(maps);
    return true;
}

void report(const char* path, int error) noexcept {
    static std::atomic<bool> reported{false};
    if (reported.exchange(true)) {
        return;
    }
    char text[longestPath + 80];
    PathText message{text};
    message.text("heapwright: no samples are written to ");
    message.text(path);
    message.text(": error ");
    message.number(static_cast<std::uint32_t>(error));
    message.text(error == ENOSPC ? " (the disk is full)\n" : "\n");
    platform::writeAll(2, text, static_cast<std::size_t>(message.at - text));
}

/// A new file for a document that is not there yet; -1 on failure.
int createPart(Draft& draft) noexcept {
    for (;;) {
        const std::uint32_t number = process.documents.fetch_add(1, std::memory_order_relaxed);
        makePath(draft.path, number, ".samples");
        makePath(draft.part, number, ".part");
        if (::access(draft.path, F_OK) == 0) {
            continue; // of an image before exec
        }
        const int file = ::open(draft.part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file >= 0 || errno != EEXIST) {
            return file;
        }
    }
}

bool writeAllOf(Draft& draft, Reason reason) noexcept {
    process.lock.lock();
    notePeakBeyond(0);
    draft.count = samples.recordCount();
    std::memcpy(draft.records, samples.records(), draft.count * sizeof(Record));
    process.lock.unlock();
    writeHead(draft.output, reason);
    writeSamples(draft);
    const bool mapped = writeMappings(draft);
    draft.output.flush();
    return mapped && draft.output.good();
}

} // namespace

void writeDocument(Reason reason) noexcept {
    const platform::ErrnoKeeper keeper;
    const platform::BlockedSignals blocked;
    noticeFork();
    void* const pages = platform::mapPages(sizeof(Draft));
    if (pages == nullptr) {
        report(process.settings.prefix, ENOMEM);
        return;
    }
    auto* const draft = static_cast<Draft*>(pages);
    const int file = createPart(*draft);
    if (file < 0) {
        report(draft->part, errno);
    } else {
        new (&draft->output) Output(file);
        errno = 0;
        const bool good = writeAllOf(*draft, reason);
        const int error = errno;
        if (::close(file) != 0 || !good || ::rename(draft->part, draft->path) != 0) {
            report(draft->path, error != 0 ? error : errno);
            ::unlink(draft->part);
        }
    }
    platform::unmapPages(pages, sizeof(Draft));
}

} // namespace heapwright::sampler

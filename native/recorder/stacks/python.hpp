// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The Python functions that the calling thread executes, read out of CPython's structures. No
// Python code runs, and no lock of the interpreter is taken.
//
// A place in Python code gets an address of its own, above all that a program can have. Each
// instruction of a code object has one number. The record of the numbers has the function's name,
// its file and its table of lines. It is written to the trace when the code object is first met, as
// code objects are released in the middle of a program. Another code object may come to the same
// address. This class compares size, lines, name and the end of the path to recognise that.
//
// A thread that holds the interpreter lock has frames that nothing else can release. Those of
// another thread are copied by the system, as the interpreter may end meanwhile.
//
// Invariant: memory is read by CheckedMemory only. What is no code object gets no address.
// Cost: some 450 instructions for each frame.
#pragma once

#include "checked_memory.hpp"
#include "host.hpp"
#include "image.hpp"
#include "python_layout.hpp"

#include "trace/layout.hpp"
#include "trace/stacks.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::recorder::stacks {

/// A frame of Python.
struct PythonFrame {
    std::uint64_t address; ///< in the numbers of its code; 0 = not known
    std::uint64_t place;   ///< an address in the C frame that executes it
};

class Python {
public:
    void begin(const Host& host) noexcept { host_ = host; }

    /// Whether an interpreter is loaded.
    [[nodiscard]] bool isThere() const noexcept { return there_.load(std::memory_order_acquire); }

    /// Looks whether a loaded object is a supported interpreter. One thread at a time.
    void look(const Image& image) noexcept;

    /// An object was unloaded: the functions of its interpreter can no longer be called.
    void forget(const Image& image) noexcept {
        if (isThere() && image.contains(codeType_)) {
            there_.store(false, std::memory_order_release);
        }
    }

    /// The frames of the calling thread, innermost first; how many were written to `into`.
    std::size_t frames(CheckedMemory& memory, PythonFrame* into, std::size_t room) noexcept;

    /// In the child of a fork: what is new from now on goes into a block of its own.
    void afterForkInChild() noexcept;

private:
    static constexpr std::size_t places = std::size_t{1} << 16U;
    static constexpr std::size_t line = 8;
    static constexpr std::size_t longestName = 512;
    static constexpr std::size_t longestPath = 2048;
    static constexpr std::size_t longestTable = std::size_t{256} << 10U;
    static constexpr std::uint8_t mostSizeShift = 6;

    /// A code object that was met. `base` is written last, and is zero meanwhile.
    struct Code {
        std::atomic<std::uint64_t> base; ///< its first number
        std::atomic<std::uint64_t> object;
        std::atomic<std::uint64_t> identity;
    };

    /// What is known of a code object before it is looked up.
    struct Seen {
        std::uint64_t object;
        std::uint64_t identity;
        std::uint64_t instructions; ///< how many
        std::uint64_t file;         ///< the objects
        std::uint64_t name;
        std::uint64_t lines;
        std::uint32_t firstLine;
    };
    struct Text {
        std::uint64_t length;
        std::uint64_t hash;
        std::uint64_t data;
        unsigned kind;
    };
    struct Frame {
        std::uint64_t code;
        std::uint64_t outer;
        std::uint64_t instruction;
        bool ends;    ///< C called it (3.11)
        bool onStack; ///< it stands for the C function that executes the frames inside of it
    };
    struct List {
        PythonFrame* into;
        std::size_t room;
        std::size_t count;
    };

    [[nodiscard]] std::uint64_t current(CheckedMemory& memory) const noexcept;
    void byRecords(std::uint64_t record, CheckedMemory& memory, List& list) noexcept;
    void byFrames(std::uint64_t frame, CheckedMemory& memory, List& list) noexcept;
    [[nodiscard]] bool readFrame(std::uint64_t from, Frame& frame,
                                 CheckedMemory& memory) const noexcept;
    [[nodiscard]] bool readText(std::uint64_t object, Text& text,
                                CheckedMemory& memory) const noexcept;
    [[nodiscard]] bool readCode(std::uint64_t object, Seen& seen,
                                CheckedMemory& memory) const noexcept;
    [[nodiscard]] std::uint64_t addressOf(const Frame& frame, CheckedMemory& memory) noexcept;
    [[nodiscard]] std::uint64_t baseOf(const Seen& seen, CheckedMemory& memory) noexcept;
    [[gnu::cold, gnu::noinline]] std::uint64_t add(Code& place, const Seen& seen,
                                                   CheckedMemory& memory) noexcept;
    [[nodiscard]] std::size_t letters(std::uint64_t object, char* into, std::size_t room,
                                      CheckedMemory& memory) const noexcept;
    bool write(const trace::InterpretedCode& code, const char* name, const char* path,
               const void* lines) noexcept;

    Host host_{};
    std::atomic<bool> there_{false};
    std::atomic<const PythonLayout*> layout_{nullptr}; ///< of the last interpreter that was found
    void* (*threadState_)() = nullptr;                 ///< the calling thread's
    void* (*lockHolder_)() = nullptr; ///< of the thread that has the interpreter lock
    std::uint64_t codeType_ = 0;
    Code* codes_ = nullptr;
    char* table_ = nullptr; ///< room for a table of lines
    std::atomic<bool> adding_{false};
    std::uint64_t next_ = trace::firstInterpreted;
    trace::BlockHeader* block_ = nullptr;
    std::uint8_t sizeShift_ = 2;
};

} // namespace heapwright::recorder::stacks

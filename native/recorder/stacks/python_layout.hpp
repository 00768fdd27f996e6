// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Where each supported version of CPython has the fields that lead from a thread to its frames.
// Offsets are those of 64-bit systems. They are constant within a minor version after its first
// release candidate.
// Source: the headers pystate.h, pycore_frame.h, code.h, unicodeobject.h of the versions, and
// `_Py_DebugOffsets` (3.13) for builds without the interpreter lock.
#pragma once

#include <cstdint>

namespace heapwright::recorder::stacks {

struct PythonLayout {
    std::uint32_t version; ///< major and minor, as in the upper half of Py_Version

    /// In the thread's state: a pointer to the innermost C-level record (before 3.13), or to the
    /// innermost frame.
    std::uint32_t threadCurrent;
    bool hasRecords;                 ///< `threadCurrent` points to a record, not to a frame
    std::uint32_t recordFrame;       ///< in a record: its innermost frame
    std::uint32_t recordOuter;       ///< the record outside of it
    std::uint32_t frameCode;         ///< in a frame: its code object
    std::uint32_t frameOuter;        ///< the frame that called it
    std::uint32_t frameInstruction;  ///< the address of the instruction
    std::uint32_t frameIsEntry;      ///< 3.11: whether C called it; 0 in others
    std::uint32_t frameOwner;        ///< later: 3 if the frame lies on the C stack
    std::uint32_t codeFirstLine;     ///< in a code object
    std::uint32_t codeFile;          ///< its file's path
    std::uint32_t codeName;          ///< its name
    std::uint32_t codeQualifiedName; ///< its name with those of classes and functions around it
    std::uint32_t codeLines;         ///< its table of lines
    std::uint32_t codeInstructions;  ///< its instructions, two bytes each
    std::uint32_t textAscii;         ///< in a string: the letters, if all are ASCII
    std::uint32_t textWide;          ///< the letters otherwise
    bool mayLackLock;                ///< builds without the interpreter lock exist
};

namespace python {
// The same in all versions.
constexpr std::uint32_t objectType = 8;
constexpr std::uint32_t objectSize = 16; ///< items of a variable object; letters of a string
constexpr std::uint32_t textHash = 24;
constexpr std::uint32_t textState = 32;
constexpr std::uint32_t bytesData = 32;
constexpr unsigned stateKindShift = 2; ///< bytes of a letter, in three bits
constexpr unsigned stateKindMask = 7;
constexpr unsigned stateCompact = 0x20;
constexpr unsigned stateAscii = 0x40;
constexpr std::uint8_t ownedByStack = 3;
constexpr std::uint32_t frameBytes = 72;
constexpr std::uint32_t codeBytes = 144;        ///< the part of a code object that is copied
constexpr std::uint32_t debugFreeThreaded = 16; ///< in `_PyRuntime` of 3.13

constexpr PythonLayout layouts[] = {
    {0x030B, 56, true, 8, 16, 32, 48, 56, 68, 69, 72, 112, 120, 128, 136, 184, 48, 72, false},
    {0x030C, 56, true, 0, 8, 0, 8, 56, 0, 70, 68, 112, 120, 128, 136, 192, 40, 56, false},
    {0x030D, 72, false, 0, 0, 0, 8, 56, 0, 70, 68, 112, 120, 128, 136, 200, 40, 56, true},
};
} // namespace python

} // namespace heapwright::recorder::stacks

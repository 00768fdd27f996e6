// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See python.hpp; the records are those of native/trace/stacks.hpp.
#include "python.hpp"

#include "dynamic_symbols.hpp"
#include "table_pages.hpp"
#include "trace/blocks.hpp"

#include <algorithm>

namespace heapwright::recorder::stacks {

namespace {

using Way = CheckedMemory::Way;

constexpr std::uint32_t releaseCandidate = 0xC0;
constexpr std::uint64_t instructionBytes = 2;

template <class T>
T wordAt(const char* bytes, std::size_t offset) {
    T value;
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
}

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
    hash = (hash ^ word) * 0x9E37'79B9'7F4A'7C15ULL;
    return hash ^ hash >> 32U;
}

/// Writes a letter in UTF-8; returns how many bytes it has.
std::size_t encode(std::uint32_t letter, char* into) {
    if (letter < 0x80) {
        into[0] = static_cast<char>(letter);
        return 1;
    }
    std::size_t more = letter < 0x800 ? 1 : letter < 0x1'0000 ? 2 : 3;
    const std::size_t bytes = more + 1;
    const unsigned marks = more == 1 ? 0xC0U : more == 2 ? 0xE0U : 0xF0U;
    into[0] = static_cast<char>(marks | letter >> (6 * more));
    for (std::size_t i = 1; i < bytes; ++i) {
        --more;
        into[i] = static_cast<char>(0x80U | (letter >> (6 * more) & 0x3FU));
    }
    return bytes;
}

const PythonLayout* layoutOf(std::uint64_t version) {
    if ((version & 0xFFU) < releaseCandidate) {
        return nullptr;
    }
    for (const PythonLayout& layout : python::layouts) {
        if (layout.version == version >> 16U) {
            return &layout;
        }
    }
    return nullptr;
}

} // namespace

void Python::look(const Image& image) noexcept {
    const bool searched = host_.python && !isThere();
    const std::uint64_t versionAt = searched ? findSymbol(image, "Py_Version") : 0;
    CheckedMemory memory;
    memory.use(Way::direct);
    std::uint64_t version = 0;
    if (versionAt == 0 || !memory.read(versionAt, version)) {
        return;
    }
    const PythonLayout* const layout = layoutOf(version);
    std::uint64_t holder = findSymbol(image, "_PyThreadState_UncheckedGet");
    holder = holder != 0 ? holder : findSymbol(image, "PyThreadState_GetUnchecked");
    const std::uint64_t state = findSymbol(image, "PyGILState_GetThisThreadState");
    codeType_ = findSymbol(image, "PyCode_Type");
    if (layout == nullptr || holder == 0 || state == 0 || codeType_ == 0) {
        return;
    }
    if (layout->mayLackLock) {
        const std::uint64_t runtime = findSymbol(image, "_PyRuntime");
        std::uint64_t lacks = 1;
        if (runtime == 0 || !memory.read(runtime + python::debugFreeThreaded, lacks) ||
            lacks != 0) {
            return;
        }
    }
    if (codes_ == nullptr) { // else an earlier interpreter was unloaded
        codes_ = static_cast<Code*>(reserveTable(places * sizeof(Code)));
        table_ = static_cast<char*>(reserveTable(longestTable));
        if (codes_ == nullptr || table_ == nullptr) {
            codes_ = nullptr;
            return;
        }
        announceTable(host_, codes_, places * sizeof(Code));
        announceTable(host_, table_, longestTable);
    }
    lockHolder_ = reinterpret_cast<void* (*)()>(holder);
    threadState_ = reinterpret_cast<void* (*)()>(state);
    layout_.store(layout, std::memory_order_relaxed);
    there_.store(true, std::memory_order_release);
}

/// The thread's state, or 0; decides how memory is read.
std::uint64_t Python::current(CheckedMemory& memory) const noexcept {
    const auto own = reinterpret_cast<std::uint64_t>(threadState_());
    const auto holder = reinterpret_cast<std::uint64_t>(lockHolder_());
    memory.use(own != 0 && own == holder ? Way::direct : Way::copied);
    return own;
}

std::size_t Python::frames(CheckedMemory& memory, PythonFrame* into, std::size_t room) noexcept {
    const PythonLayout& layout = *layout_.load(std::memory_order_relaxed);
    const std::uint64_t thread = current(memory);
    std::uint64_t first = 0;
    List list{into, room, 0};
    if (thread == 0 || !memory.read(thread + layout.threadCurrent, first)) {
        return 0;
    }
    if (layout.frameIsEntry != 0) {
        byRecords(first, memory, list);
    } else if (!layout.hasRecords || memory.read(first + layout.recordFrame, first)) {
        byFrames(first, memory, list);
    }
    return list.count;
}

/// 3.11: a record on the C stack for each C function that executes frames. Its outermost
/// frame is marked.
void Python::byRecords(std::uint64_t record, CheckedMemory& memory, List& list) noexcept {
    const PythonLayout& layout = *layout_.load(std::memory_order_relaxed);
    for (std::size_t i = 0; record != 0 && i < list.room; ++i) {
        std::uint64_t at = 0;
        std::uint64_t outer = 0;
        if (!memory.read(record + layout.recordFrame, at) ||
            !memory.read(record + layout.recordOuter, outer)) {
            return;
        }
        Frame frame{};
        while (at != 0 && !frame.ends) {
            if (list.count == list.room || !readFrame(at, frame, memory)) {
                return;
            }
            list.into[list.count++] = {addressOf(frame, memory), record};
            at = frame.outer;
        }
        record = outer;
    }
}

/// Later versions: a frame on the C stack stands behind those that its C function executes.
void Python::byFrames(std::uint64_t at, CheckedMemory& memory, List& list) noexcept {
    constexpr std::uint64_t beyondAll = ~std::uint64_t{0};
    std::size_t first = 0; ///< of those whose C function is not known yet
    const auto executedAt = [&list, &first](std::uint64_t place) {
        for (; first < list.count; ++first) {
            list.into[first].place = place;
        }
    };
    Frame frame{};
    for (std::size_t i = 0; at != 0 && i < 2 * list.room; ++i, at = frame.outer) {
        if (list.count == list.room || !readFrame(at, frame, memory)) {
            break;
        }
        if (frame.onStack) {
            executedAt(at);
        } else {
            list.into[list.count++] = {addressOf(frame, memory), beyondAll};
        }
    }
    executedAt(beyondAll);
}

bool Python::readFrame(std::uint64_t from, Frame& frame, CheckedMemory& memory) const noexcept {
    const PythonLayout& layout = *layout_.load(std::memory_order_relaxed);
    char bytes[python::frameBytes];
    if (!memory.copy(from, bytes, sizeof bytes)) {
        return false;
    }
    frame.code = wordAt<std::uint64_t>(bytes, layout.frameCode);
    frame.outer = wordAt<std::uint64_t>(bytes, layout.frameOuter);
    frame.instruction = wordAt<std::uint64_t>(bytes, layout.frameInstruction);
    const bool entries = layout.frameIsEntry != 0;
    frame.ends = entries && bytes[layout.frameIsEntry] != 0;
    frame.onStack = !entries && bytes[layout.frameOwner] == python::ownedByStack;
    return true;
}

bool Python::readText(std::uint64_t object, Text& text, CheckedMemory& memory) const noexcept {
    const PythonLayout& layout = *layout_.load(std::memory_order_relaxed);
    char bytes[python::textState + 4];
    if (!memory.copy(object, bytes, sizeof bytes)) {
        return false;
    }
    const auto state = wordAt<std::uint32_t>(bytes, python::textState);
    text.length = wordAt<std::uint64_t>(bytes, python::objectSize);
    text.hash = wordAt<std::uint64_t>(bytes, python::textHash);
    text.kind = state >> python::stateKindShift & python::stateKindMask;
    const bool ascii = (state & python::stateAscii) != 0;
    text.data = object + (ascii ? layout.textAscii : layout.textWide);
    return (state & python::stateCompact) != 0 &&
           (text.kind == 1 || text.kind == 2 || text.kind == 4);
}

/// What tells code objects apart. False if there is none.
bool Python::readCode(std::uint64_t object, Seen& seen, CheckedMemory& memory) const noexcept {
    const PythonLayout& layout = *layout_.load(std::memory_order_relaxed);
    char bytes[python::codeBytes];
    if (!memory.copy(object, bytes, sizeof bytes) ||
        wordAt<std::uint64_t>(bytes, python::objectType) != codeType_) {
        return false;
    }
    seen.object = object;
    seen.instructions = wordAt<std::uint64_t>(bytes, python::objectSize);
    seen.file = wordAt<std::uint64_t>(bytes, layout.codeFile);
    seen.name = wordAt<std::uint64_t>(bytes, layout.codeQualifiedName);
    seen.lines = wordAt<std::uint64_t>(bytes, layout.codeLines);
    seen.firstLine = wordAt<std::uint32_t>(bytes, layout.codeFirstLine);
    Text name{};
    Text file{};
    if (!readText(wordAt<std::uint64_t>(bytes, layout.codeName), name, memory) ||
        !readText(seen.file, file, memory)) {
        return false;
    }
    const std::uint64_t size = file.length * file.kind;
    std::uint64_t end = 0;
    if (size >= sizeof end && !memory.read(file.data + size - sizeof end, end)) {
        return false;
    }
    std::uint64_t hash = mixed(seen.instructions, seen.name);
    hash = mixed(hash, seen.lines);
    hash = mixed(hash, name.hash);
    hash = mixed(hash, end ^ seen.file);
    seen.identity = mixed(hash, file.length << 32U ^ seen.firstLine);
    return true;
}

std::uint64_t Python::addressOf(const Frame& frame, CheckedMemory& memory) noexcept {
    Seen seen{};
    if (!readCode(frame.code, seen, memory)) {
        return 0;
    }
    const std::uint64_t base = baseOf(seen, memory);
    if (base == 0) {
        return 0;
    }
    // A new frame points to the word before its first instruction.
    const std::uint64_t begin =
        frame.code + layout_.load(std::memory_order_relaxed)->codeInstructions - instructionBytes;
    const std::uint64_t number = (frame.instruction - begin) / instructionBytes;
    return base + 1 + (number <= seen.instructions ? number : 0);
}

std::uint64_t Python::baseOf(const Seen& seen, CheckedMemory& memory) noexcept {
    const std::uint64_t hash = mixed(0, seen.object);
    Code* const first = codes_ + (hash & (places - line));
    Code* chosen = first + (hash >> 32U) % line; // if another has to go
    for (Code* place = first; place != first + line; ++place) {
        const std::uint64_t object = place->object.load(std::memory_order_acquire);
        if (object == 0 || object == seen.object) {
            chosen = place;
            const std::uint64_t base = place->base.load(std::memory_order_acquire);
            const bool same =
                object != 0 && place->identity.load(std::memory_order_acquire) == seen.identity;
            if (same && base != 0 && place->base.load(std::memory_order_relaxed) == base) {
                return base;
            }
            break;
        }
    }
    return add(*chosen, seen, memory);
}

/// Numbers for a code object that is new; 0 if there are none now.
std::uint64_t Python::add(Code& place, const Seen& seen, CheckedMemory& memory) noexcept {
    constexpr std::uint64_t mostInstructions = std::uint64_t{1} << 24U;
    constexpr std::uint64_t beyond = std::uint64_t{1} << 48U;
    if (seen.instructions > mostInstructions || adding_.exchange(true, std::memory_order_acquire)) {
        return 0;
    }
    char name[longestName];
    char path[longestPath];
    const std::size_t nameLength = letters(seen.name, name, sizeof name, memory);
    const std::size_t pathLength = letters(seen.file, path, sizeof path, memory);
    std::uint64_t tableLength = 0;
    if (!memory.read(seen.lines + python::objectSize, tableLength) || tableLength >= longestTable ||
        !memory.copy(seen.lines + python::bytesData, table_, tableLength + 1)) {
        tableLength = 0; // of such a long one no lines are known
    }
    const std::uint64_t base = next_;
    const std::uint64_t end = base + seen.instructions + 2;
    const trace::InterpretedCode code{base,
                                      end,
                                      seen.firstLine,
                                      static_cast<std::uint32_t>(nameLength),
                                      static_cast<std::uint32_t>(pathLength),
                                      static_cast<std::uint32_t>(tableLength)};
    const bool written = nameLength != 0 && end < beyond && write(code, name, path, table_);
    if (written) {
        next_ = end;
        place.base.store(0, std::memory_order_relaxed);
        place.object.store(seen.object, std::memory_order_release);
        place.identity.store(seen.identity, std::memory_order_release);
        place.base.store(base, std::memory_order_release);
    }
    adding_.store(false, std::memory_order_release);
    return written ? base : 0;
}

/// Appends a record; false where the trace has no more room.
bool Python::write(const trace::InterpretedCode& code, const char* name, const char* path,
                   const void* lines) noexcept {
    const auto append = [&] {
        return block_ != nullptr && trace::appendRecord(*block_, trace::record::interpretedCode,
                                                        trace::Piece{&code, sizeof code},
                                                        trace::Piece{name, code.nameLength},
                                                        trace::Piece{path, code.fileLength},
                                                        trace::Piece{lines, code.tableLength});
    };
    if (append()) {
        return true;
    }
    const std::size_t needed = sizeof(trace::BlockHeader) + sizeof(trace::RecordHeader) +
                               sizeof code + code.nameLength + code.fileLength + code.tableLength +
                               8;
    while (trace::pageSize << sizeShift_ < needed) {
        ++sizeShift_;
    }
    block_ = static_cast<trace::BlockHeader*>(
        host_.claim(Table::modules, trace::pageSize << sizeShift_));
    sizeShift_ = std::min<std::uint8_t>(sizeShift_ + 1, mostSizeShift);
    return append();
}

/// A string in UTF-8, cut where there is no more room.
std::size_t Python::letters(std::uint64_t object, char* into, std::size_t room,
                            CheckedMemory& memory) const noexcept {
    constexpr std::size_t longestLetter = 4;
    Text text{};
    if (!readText(object, text, memory)) {
        return 0;
    }
    std::size_t count = 0;
    for (std::uint64_t i = 0; i < text.length && count + longestLetter <= room; ++i) {
        std::uint32_t letter = 0;
        if (!memory.copy(text.data + i * text.kind, &letter, text.kind)) {
            return 0;
        }
        count += encode(letter, into + count);
    }
    return count;
}

void Python::afterForkInChild() noexcept {
    block_ = nullptr;
    sizeShift_ = 2;
    adding_.store(false, std::memory_order_relaxed);
}

} // namespace heapwright::recorder::stacks

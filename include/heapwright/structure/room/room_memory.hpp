// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of memory that a room can have: pages that live as long as one of the processes
// which share them, and a file.
//
// A file is opened by one at a time (byte 0 of it is locked meanwhile), and byte 1 is locked as
// long as it is in use. So who opens it knows whether others have it; if nobody has it and it says
// that somebody entered, that one has died.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/platform/poison.hpp>
#include <heapwright/platform/process.hpp>
#include <heapwright/platform/shared_pages.hpp>
#include <heapwright/structure/room/room.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// A file to be memory: a type with a static `open()` that answers a descriptor or -1, and `size`
/// in bytes, whole pages. It may say at which `address` the file shall stand; otherwise a place is
/// chosen when the file is new, and later it stands there again.
template <class F>
concept MappedFile = requires {
    { F::size } -> std::convertible_to<std::size_t>;
    { F::open() } -> std::same_as<int>;
};

/// A file without a name for as long as it is used: memory that the system can write out to a disk
/// where there is no swap.
template <std::size_t Bytes>
struct ScratchFile {
    static constexpr std::size_t size = Bytes;
    [[nodiscard]] static int open() noexcept { return platform::openUnnamedFile(); }
};

/// Memory that a process shares with those forked from it.
template <std::size_t Bytes>
struct SharedMemory {
    [[nodiscard]] static OpenRoom open(RoomWish wish) noexcept {
        void* const pages = platform::mapSharedPages(Bytes);
        if (pages == nullptr) {
            return {};
        }
        platform::beginSharing(pages, Bytes);
        return {Room::begin(pages, Bytes, wish.kind), Opening::made};
    }
    static void finish(OpenRoom open) noexcept { open.room->finish(); }
    /// Lets it go in this process.
    static void close(OpenRoom open) noexcept {
        platform::endSharing(open.room);
        platform::unmapPages(open.room, Bytes);
    }
};

template <MappedFile File>
class FileMemory {
    static constexpr std::size_t gate = 0;     ///< the byte locked by who opens or closes
    static constexpr std::size_t presence = 1; ///< and by who has it
    using Lock = platform::FileLock;

    static constexpr Address quiet = Address{0x6000} << 32U;
    static constexpr std::size_t spacing = 4 * GiB;
    static constexpr std::uint64_t places = 4096;
    static constexpr std::uint64_t attempts = 8;

    static constexpr Address wishedAddress() noexcept {
        if constexpr (requires {
                          { File::address } -> std::convertible_to<Address>;
                      }) {
            return File::address;
        } else {
            return 0;
        }
    }

public:
    /// Nobody else comes in before a room that was made is finished, or closed.
    [[nodiscard]] static OpenRoom open(RoomWish wish) noexcept {
        const int file = File::open();
        if (file < 0) {
            return {};
        }
        platform::lockFile(file, gate, Lock::sole, true);
        OpenRoom result = enter(file, wish);
        if (isOpen(result.opening)) {
            platform::beginSharing(result.room, result.room->label.bytes);
            result.room->label.entered = 1;
            platform::writeOut(result.room, sizeof(Room));
            if (result.opening == Opening::found) {
                platform::lockFile(file, gate, Lock::none, true);
            }
            result.file = file;
            result.process = platform::processId();
        } else {
            platform::letFileGo(file); // and so all its locks
        }
        return result;
    }

    static void finish(OpenRoom open) noexcept {
        open.room->finish();
        platform::lockFile(open.file, gate, Lock::none, true);
    }

    /// The last one writes it out and marks it as left in order. What a forked process has, it has
    /// from the one that opened it, and so the locks are not its own.
    static void close(OpenRoom open) noexcept {
        const bool mine = open.process == platform::processId();
        if (mine) {
            platform::lockFile(open.file, gate, Lock::sole, true);
            if (platform::lockFile(open.file, presence, Lock::sole, false)) {
                platform::writeOut(open.room, open.room->label.bytes);
                open.room->label.entered = 0;
                platform::writeOut(open.room, sizeof(Room));
            }
        }
        platform::endSharing(open.room);
        platform::unmapPages(open.room, open.room->label.bytes);
        if (mine) { // not left to the closing: a forked process may have the file open
            platform::lockFile(open.file, presence, Lock::none, false);
            platform::lockFile(open.file, gate, Lock::none, false);
        }
        platform::letFileGo(open.file);
    }

private:
    static OpenRoom refused(Opening why) noexcept { return {nullptr, why}; }

    /// Pre: the gate is locked.
    static OpenRoom enter(int file, RoomWish wish) noexcept {
        const bool alone = platform::lockFile(file, presence, Lock::sole, false);
        if (!alone && !wish.shared) {
            return refused(Opening::busy);
        }
        if (wish.shared && !platform::lockFile(file, presence, Lock::shared, false)) {
            return refused(Opening::busy);
        }
        RoomLabel label;
        const bool labelled = platform::readFile(file, &label, sizeof label);
        const std::size_t bytes = platform::sizeOfFile(file);
        const bool begun = labelled && isUnfinished(label, bytes, wish);
        if (bytes == 0 || (begun && platform::emptyFile(file))) {
            return make(file, wish);
        }
        if (label.magic != RoomLabel::rightMagic || label.kind != wish.kind ||
            label.bytes > bytes) {
            return refused(Opening::foreign);
        }
        if (alone && label.entered != 0 && !wish.unclean) {
            return refused(Opening::unclean);
        }
        return find(file, label, alone);
    }

    /// Whoever began it died before anything was in it.
    static bool isUnfinished(const RoomLabel& label, std::size_t bytes, RoomWish wish) noexcept {
        const bool nothing = label.kind == 0 && label.bytes == 0 && bytes == File::size;
        return label.magic == 0 && (label.kind == wish.kind || nothing);
    }

    static OpenRoom make(int file, RoomWish wish) noexcept {
        if (!platform::growFile(file, File::size)) {
            return refused(Opening::failed);
        }
        void* const pages = mapNew(file, wish);
        if (pages == nullptr) {
            return refused(wishedAddress() != 0 ? Opening::taken : Opening::failed);
        }
        return {Room::begin(pages, File::size, wish.kind), Opening::made};
    }

    /// Where nobody said where, the file goes to where systems put nothing by themselves, so that
    /// the place is free the next time too, and there is room behind it to grow.
    static void* mapNew(int file, RoomWish wish) noexcept {
        if (wishedAddress() != 0) {
            return platform::mapFile(file, File::size, wishedAddress());
        }
        for (std::uint64_t attempt = 0; attempt < attempts; ++attempt) {
            const Address place = quiet + (wish.kind + attempt * 511) % places * spacing;
            if (void* const pages = platform::mapFile(file, File::size, place)) {
                return pages;
            }
        }
        return platform::mapFile(file, File::size, 0);
    }

    /// A file that has become larger since has more room, once nobody else has it mapped.
    static OpenRoom find(int file, const RoomLabel& label, bool alone) noexcept {
        const bool grows =
            alone && File::size > label.bytes && platform::growFile(file, File::size);
        std::size_t bytes = grows ? File::size : label.bytes;
        void* pages = platform::mapFile(file, bytes, label.address);
        if (pages == nullptr && grows) { // something else stands behind it
            bytes = label.bytes;
            pages = platform::mapFile(file, bytes, label.address);
        }
        if (pages == nullptr) {
            return refused(Opening::taken);
        }
        auto* const room = static_cast<Room*>(pages);
        room->label.bytes = bytes;
        return {room, Opening::found};
    }
};

} // namespace heapwright

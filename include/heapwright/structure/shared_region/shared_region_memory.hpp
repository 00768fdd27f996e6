// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of memory that a region can have: pages that live as long as one of the processes
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
#include <heapwright/structure/shared_region/shared_region.hpp>

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

/// A file that states at which address it stands.
template <class F>
concept FixedAddressFile = MappedFile<F> && requires {
    { F::address } -> std::convertible_to<Address>;
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
    [[nodiscard]] static OpenRegion open(RegionRequest wish) noexcept {
        void* const pages = platform::mapSharedPages(Bytes);
        if (pages == nullptr) {
            return {};
        }
        platform::beginSharing(pages, Bytes);
        return {SharedRegion::begin(pages, Bytes, wish.kind), Opening::made};
    }
    static void finish(OpenRegion open) noexcept { open.region->finish(); }
    /// Lets it go in this process.
    static void close(OpenRegion open) noexcept {
        platform::endSharing(open.region);
        platform::unmapPages(open.region, Bytes);
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
        if constexpr (FixedAddressFile<File>) {
            return File::address;
        } else {
            return 0;
        }
    }

public:
    /// Nobody else comes in before a region that was made is finished, or closed.
    [[nodiscard]] static OpenRegion open(RegionRequest wish) noexcept {
        const int file = File::open();
        if (file < 0) {
            return {};
        }
        platform::lockFile(file, gate, Lock::sole, true);
        OpenRegion result = enter(file, wish);
        if (isOpen(result.opening)) {
            platform::beginSharing(result.region, result.region->label.bytes);
            result.region->label.entered = 1;
            platform::writeOut(result.region, sizeof(SharedRegion));
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

    static void finish(OpenRegion open) noexcept {
        open.region->finish();
        platform::lockFile(open.file, gate, Lock::none, true);
    }

    /// The last one writes it out and marks it as left in order. What a forked process has, it has
    /// from the one that opened it, and so the locks are not its own.
    static void close(OpenRegion open) noexcept {
        const bool mine = open.process == platform::processId();
        if (mine) {
            platform::lockFile(open.file, gate, Lock::sole, true);
            if (platform::lockFile(open.file, presence, Lock::sole, false)) {
                platform::writeOut(open.region, open.region->label.bytes);
                open.region->label.entered = 0;
                platform::writeOut(open.region, sizeof(SharedRegion));
            }
        }
        platform::endSharing(open.region);
        platform::unmapPages(open.region, open.region->label.bytes);
        if (mine) { // not left to the closing: a forked process may have the file open
            platform::lockFile(open.file, presence, Lock::none, false);
            platform::lockFile(open.file, gate, Lock::none, false);
        }
        platform::letFileGo(open.file);
    }

private:
    static OpenRegion refused(Opening why) noexcept { return {nullptr, why}; }

    /// Pre: the gate is locked.
    static OpenRegion enter(int file, RegionRequest wish) noexcept {
        const bool alone = platform::lockFile(file, presence, Lock::sole, false);
        if (!alone && !wish.shared) {
            return refused(Opening::busy);
        }
        if (wish.shared && !platform::lockFile(file, presence, Lock::shared, false)) {
            return refused(Opening::busy);
        }
        RegionLabel label;
        const bool labelled = platform::readFile(file, &label, sizeof label);
        const std::size_t bytes = platform::sizeOfFile(file);
        const bool begun = labelled && isUnfinished(label, bytes, wish);
        if (bytes == 0 || (begun && platform::emptyFile(file))) {
            return make(file, wish);
        }
        if (label.magic != RegionLabel::rightMagic || label.kind != wish.kind ||
            label.bytes > bytes) {
            return refused(Opening::foreign);
        }
        if (alone && label.entered != 0 && !wish.unclean) {
            return refused(Opening::unclean);
        }
        return find(file, label, alone);
    }

    /// Whoever began it died before anything was in it.
    static bool isUnfinished(const RegionLabel& label, std::size_t bytes,
                             RegionRequest wish) noexcept {
        const bool nothing = label.kind == 0 && label.bytes == 0 && bytes == File::size;
        return label.magic == 0 && (label.kind == wish.kind || nothing);
    }

    static OpenRegion make(int file, RegionRequest wish) noexcept {
        if (!platform::growFile(file, File::size)) {
            return refused(Opening::failed);
        }
        void* const pages = mapNew(file, wish);
        if (pages == nullptr) {
            return refused(wishedAddress() != 0 ? Opening::taken : Opening::failed);
        }
        return {SharedRegion::begin(pages, File::size, wish.kind), Opening::made};
    }

    /// Where nobody said where, the file goes to where systems put nothing by themselves, so that
    /// the place is free the next time too, and there is region behind it to grow.
    static void* mapNew(int file, RegionRequest wish) noexcept {
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

    /// A file that has grown since has a larger region, once no other process has it mapped.
    static OpenRegion find(int file, const RegionLabel& label, bool alone) noexcept {
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
        auto* const region = static_cast<SharedRegion*>(pages);
        region->label.bytes = bytes;
        return {region, Opening::found};
    }
};

} // namespace heapwright

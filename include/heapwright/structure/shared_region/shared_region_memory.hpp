// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of memory of a region: pages that live as long as one of the processes that share
// them, and a file.
//
// Only one process at a time opens a file: byte 0 is locked meanwhile. Byte 1 is locked as long as
// the file is in use. A process that opens the file can thus detect other users. If there are none
// and the label says that the file is in use, its last user died.
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

/// A file as memory. The type has a static `open()` that returns a descriptor or -1, and `size` in
/// bytes, a multiple of the page size. It may state the `address` of the mapping. Otherwise an
/// address is chosen when the file is new, and used again later.
template <class F>
concept MappedFile = requires {
    { F::size } -> std::convertible_to<std::size_t>;
    { F::open() } -> std::same_as<int>;
};

/// A file that states its address.
template <class F>
concept FixedAddressFile = MappedFile<F> && requires {
    { F::address } -> std::convertible_to<Address>;
};

/// A file without a name that exists as long as it is used. The system can write its memory to a
/// disk on a machine without swap.
template <std::size_t Bytes>
struct ScratchFile {
    static constexpr std::size_t size = Bytes;
    [[nodiscard]] static int open() noexcept { return platform::openUnnamedFile(); }
};

/// Memory that a process shares with its forked children.
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
    /// Unmaps it in this process.
    static void close(OpenRegion open) noexcept {
        platform::endSharing(open.region);
        platform::unmapPages(open.region, Bytes);
    }
};

template <MappedFile File>
class FileMemory {
    /// Locked by the process that opens or closes the file.
    static constexpr std::size_t gate = 0;
    static constexpr std::size_t presence = 1; ///< locked by the processes that use it
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
    /// The gate stays locked until a new region is finished or closed, so that no other process
    /// enters.
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
            platform::letFileGo(file); // this also releases its locks
        }
        return result;
    }

    static void finish(OpenRegion open) noexcept {
        open.region->finish();
        platform::lockFile(open.file, gate, Lock::none, true);
    }

    /// The last user writes the file to disk and marks it as closed. A forked child inherited the
    /// mapping but not the locks.
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
        // Not released by closing alone, because a forked process may have the file open.
        if (mine) {
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

    /// Whether its creator died before anything was in it.
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

    /// Without a stated address, the file is mapped where systems map nothing by themselves. The
    /// place is then free the next time too, and the region has room to grow.
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

    /// If the file has grown, the region grows too, once no other process has it mapped.
    static OpenRegion find(int file, const RegionLabel& label, bool alone) noexcept {
        const bool grows =
            alone && File::size > label.bytes && platform::growFile(file, File::size);
        std::size_t bytes = grows ? File::size : label.bytes;
        void* pages = platform::mapFile(file, bytes, label.address);
        if (pages == nullptr && grows) { // the addresses behind it are in use
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

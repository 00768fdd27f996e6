// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "walk.hpp"

#include "window.hpp"

#include <unordered_set>

namespace heapwright::look {

namespace {

constexpr int mostWalks = 4;
constexpr int sureChunks = 24;                   ///< that follow each other where a walk resumes
constexpr Address mostFences = 64;               ///< bytes at the end of a heap that has no top
constexpr Address mostGrowth = Address{1} << 30; ///< of a top chunk since the mappings were read
constexpr Address topAt = 96;                    ///< in malloc_state

// Offsets in heap_info.
constexpr Address previousAt = 8;
constexpr Address sizeAt = 16;

Address alignedChunk(Address at) {
    return (at + chunkAlignment - 1) & ~(chunkAlignment - 1);
}

/// The size field of a chunk, interpreted.
struct Head {
    std::uint64_t word;

    std::uint64_t size() const { return word & ~sizeFlags; }
    bool isFence() const { return size() < leastChunk; }
    bool previousInUse() const { return (word & inUseBit) != 0; }
};

class Walk {
public:
    Walk(const Image& image, const Segment& segment, bool isMain)
        : window_(image, segment.begin, segment.end), segment_(segment), isMain_(isMain) {}

    /// The address at which the walk ended: the end, or a chunk that is not recognised.
    Address from(Address at, Visitor& visitor) {
        while (at != segment_.top && at + leastChunk <= segment_.end) {
            const Head head = headAt(at);
            if (segment_.top == 0 && segment_.end - at <= mostFences) {
                break;
            }
            if (head.isFence()) {
                return isFencePost(at) ? fence(at, visitor) : at;
            }
            if (!isPossible(at, head)) {
                return at;
            }
            const Address next = at + head.size();
            visitor.chunk({at, head.size(), headAt(next).previousInUse()});
            at = next;
        }
        const std::uint64_t topSize = at == segment_.top ? headAt(at).size() : 0;
        if (topSize > segment_.end - at) { // the top has moved, and this is a block now
            return at;
        }
        visitor.end(at, topSize);
        return segment_.end;
    }

    /// The first address behind `at` at which chunks follow each other; the end if there is none.
    Address resume(Address at) {
        for (at += chunkAlignment; at + leastChunk <= segment_.end; at += chunkAlignment) {
            if (isChain(at)) {
                return at;
            }
        }
        return segment_.end;
    }

private:
    Head headAt(Address at) { return {window_.word(at + 8)}; }

    bool isPossible(Address at, Head head) {
        const std::uint64_t size = head.size();
        const Address limit = segment_.top != 0 && at < segment_.top ? segment_.top : segment_.end;
        if (size % chunkAlignment != 0 || (head.word & mappedBit) != 0 || size > limit - at) {
            return false;
        }
        const Head next = headAt(at + size);
        const bool isOther = (head.word & otherArenaBit) != 0;
        return next.previousInUse() ? isOther != isMain_ : window_.word(at + size) == size;
    }

    /// glibc closes a stretch with two chunks that are too small for any request.
    bool isFencePost(Address at) {
        const Head head = headAt(at);
        const Head next = at + chunkHeader + leastChunk <= segment_.end ? headAt(at + chunkHeader)
                                                                        : Head{inUseBit};
        return head.size() == chunkHeader && next.isFence() && next.previousInUse();
    }

    /// The main heap continues behind memory that the program itself took with sbrk.
    Address fence(Address at, Visitor& visitor) {
        const bool continues = segment_.top != 0 && at < segment_.top;
        visitor.end(at, 0);
        const Address found = continues ? resume(at + chunkHeader) : segment_.end;
        return found >= segment_.end ? segment_.end : from(found, visitor);
    }

    bool isChain(Address at) {
        for (int count = 0; count < sureChunks; ++count) {
            if (at == segment_.top) {
                return true;
            }
            if (at + leastChunk > segment_.end) {
                return false;
            }
            const Head head = headAt(at);
            if (head.isFence()) {
                return count > 0 && isFencePost(at);
            }
            if (!isPossible(at, head)) {
                return false;
            }
            at += head.size();
        }
        return true;
    }

    Window window_;
    const Segment& segment_;
    bool isMain_;
};

/// The end of the top chunk. A damaged size is limited by the mapping.
Address endOfTop(const Image& image, Address top) {
    const std::uint64_t size = image.word(top + 8) & ~sizeFlags;
    const Mapping* const mapping = image.find(top);
    const Address known = mapping == nullptr ? top : mapping->end;
    return size <= mostGrowth || top + size <= known ? top + size : known;
}

/// The segment as it is now, after the program has changed its heap.
Segment refreshed(const Image& image, Segment segment) {
    constexpr Address most = Address{1} << 40;
    const Address top = segment.top == 0 ? 0 : image.word(segment.arenaAt + topAt);
    if (top >= segment.begin && top - segment.begin < most) {
        const Address end = endOfTop(image, top);
        if (end > top && end - segment.begin < most) {
            segment.top = top;
            segment.end = end;
        }
    }
    return segment;
}

/// The main arena's heap, from the first address that sbrk returned to the end of the top chunk. If
/// the system refused sbrk, further stretches are mappings, and the top may be in one.
void addMain(const Image& image, const Glibc& glibc, std::vector<Segment>& to) {
    const Arena& arena = glibc.arenas.front();
    const Mapping* const topMapping = image.find(arena.top);
    if (arena.systemBytes == 0 || topMapping == nullptr) {
        return;
    }
    const Address known = glibc.parameters ? glibc.parameters->heapBegin : 0;
    const Mapping* const first = known == 0 ? topMapping : image.find(known);
    const Address begin = alignedChunk(known == 0 ? topMapping->begin : known);
    if (first == topMapping) {
        to.push_back({0, begin, endOfTop(image, arena.top), arena.top, arena.at});
        return;
    }
    if (first != nullptr) {
        to.push_back({0, begin, first->end, 0, arena.at});
    }
    to.push_back({0, topMapping->begin, endOfTop(image, arena.top), arena.top, arena.at});
}

/// The heaps of another arena, the newest first.
void addOther(const Image& image, const Glibc& glibc, std::size_t index, std::vector<Segment>& to) {
    const Arena& arena = glibc.arenas[index];
    const Address span = glibc.heapSpan();
    const Address oldest = arena.at & ~(span - 1);
    Address heap = arena.top & ~(span - 1);
    for (std::unordered_set<Address> known; heap != 0 && known.insert(heap).second;) {
        const std::uint64_t size = image.word(heap + sizeAt);
        if (image.word(heap) != arena.at || size > span || size == 0) {
            return;
        }
        const Address begin =
            heap == oldest ? alignedChunk(arena.at + arenaBytes) : heap + arena.heapInfoBytes;
        const bool hasTop = arena.top >= heap && arena.top - heap < size;
        to.push_back({index, begin, heap + size, hasTop ? arena.top : 0, arena.at});
        if (heap == oldest) {
            return;
        }
        heap = image.word(heap + previousAt);
    }
}

} // namespace

std::vector<Segment> segmentsOf(const Image& image, const Glibc& glibc) {
    std::vector<Segment> all;
    addMain(image, glibc, all);
    for (std::size_t index = 1; index < glibc.arenas.size(); ++index) {
        addOther(image, glibc, index, all);
    }
    return all;
}

WalkResult walk(const Image& image, const Segment& first, bool isMain, Visitor& visitor) {
    WalkResult result;
    for (int number = 1;; ++number) {
        const Segment segment = number == 1 ? first : refreshed(image, first);
        Walk each(image, segment, isMain);
        visitor.begin(segment);
        Address at = each.from(segment.begin, visitor);
        while (number == mostWalks && at < segment.end) {
            const Address next = each.resume(at);
            result.lostBytes += next - at;
            visitor.end(at, 0);
            at = next < segment.end ? each.from(next, visitor) : next;
        }
        if (at >= segment.end) {
            return result;
        }
        ++result.repeats;
    }
}

} // namespace heapwright::look

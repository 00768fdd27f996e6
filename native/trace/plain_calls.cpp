// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The decoder's fast path. It looks up the meaning of a tag instead of taking the tag apart. The
// only unpredictable branch per call is whether a shape is new.
// Cost: about forty instructions per call.
#include <array>

#include "trace/decoder.hpp"

namespace heapwright::trace {

namespace {

enum class Way : std::uint8_t { none, known, other };

/// What stands behind a tag.
struct alignas(8) Tag {
    std::uint8_t timeLength = 0;
    std::uint8_t addressLength = 0;
    std::uint8_t shapeLength = 0; ///< of one that is known
    Way way = Way::none;
    Routine routine = Routine::malloc;
    CallKind kind = CallKind::other;
    bool remembered = false; ///< with stacks: the address is one of the table
    std::uint8_t shape = 0;  ///< the way that it is said
};

constexpr Tag tagOf(unsigned bits, bool stacks) {
    const unsigned form = bits & 3;
    const unsigned shape = bits >> coding::shapeShift;
    const unsigned address = (bits >> coding::addressShift) & 3;
    Tag tag;
    tag.timeLength = static_cast<std::uint8_t>(coding::lengthOf((bits >> coding::timeShift) & 3));
    tag.remembered = stacks && address == 0;
    tag.addressLength = static_cast<std::uint8_t>(tag.remembered ? 1U : coding::lengthOf(address));
    tag.shape = static_cast<std::uint8_t>(shape);
    if (form == coding::formOther)
        return tag;
    if (form == coding::formFree) {
        constexpr Routine frees[] = {Routine::free, Routine::free, Routine::operatorDelete,
                                     Routine::operatorDeleteSized};
        tag.way = shape == coding::freeNull ? Way::none : Way::known;
        tag.routine = frees[shape];
        tag.kind = CallKind::free;
        return tag;
    }
    const bool rare = stacks ? shape == coding::shapeOther : shape >= coding::shapeMedium;
    tag.shapeLength = 1;
    tag.way = shape == coding::shapeKnown ? Way::known : rare ? Way::none : Way::other;
    tag.routine = form == coding::formMalloc ? Routine::malloc : Routine::operatorNew;
    tag.kind = CallKind::allocation;
    return tag;
}

template <bool stacks>
constexpr std::array<Tag, 256> tags = [] {
    std::array<Tag, 256> all{};
    for (unsigned bits = 0; bits < 256; ++bits)
        all[bits] = tagOf(bits, stacks);
    return all;
}();

/// The bits of a field, by its length.
constexpr std::array<std::uint64_t, 9> masks = [] {
    std::array<std::uint64_t, 9> all{};
    for (unsigned length = 1; length <= 8; ++length)
        all[length] = ~std::uint64_t{0} >> (64 - 8 * length);
    return all;
}();

} // namespace

/// A shape that the table does not know, from behind its event's address on.
template <bool stacks>
coding::Shape BlockDecoder::tellShape(const std::byte*& from, unsigned way) noexcept {
    at_ = from;
    coding::Shape shape{};
    if (!stacks) {
        shape.size = static_cast<std::uint32_t>(bytes(2));
        const auto extra = static_cast<std::uint32_t>(bytes(1));
        shape.usable = extra == coding::noneSmall ? 0 : shape.size + extra;
    } else if (way == coding::shapeRemembered) {
        shape = coding::StackTables::shape(tables_.shapeAt(bytes(2)));
    } else {
        shape = smallShape();
    }
    from = at_;
    shapes_.at(coding::ShapeTable::place(shape.size, shape.stack)) = shape;
    return shape;
}

template <bool stacks>
std::size_t BlockDecoder::plainCalls(Call* calls, std::size_t most, std::uint64_t perTick,
                                     std::uint64_t& lastTime) noexcept {
    __extension__ using Wide = unsigned __int128;
    const std::byte* at = at_;
    const std::byte* const safe = safe_;
    std::uint64_t time = time_;
    std::uint64_t base = base_;
    std::uint64_t last = lastTime;
    std::size_t count = 0;
    for (; count < most && at < safe; ++count) {
        const Tag tag = tags<stacks>[static_cast<unsigned>(*at)];
        if (tag.way == Way::none) [[unlikely]]
            break;
        const std::byte* from = at + 1;
        const std::uint64_t ticks = time + (load(from) & masks[tag.timeLength]);
        from += tag.timeLength;
        const std::uint64_t field = load(from) & masks[tag.addressLength];
        from += tag.addressLength;
        std::uint64_t address = base + (static_cast<std::uint64_t>(coding::unzigzag(field)) << 4);
        if (stacks && tag.remembered)
            address = tables_.address(static_cast<unsigned>(field));
        const auto now = static_cast<std::uint64_t>((Wide{ticks} * perTick) >> 32);
        if (address == 0 || now < last) [[unlikely]]
            break;
        // Behind a free stands no shape: what is taken for one is not looked at.
        coding::Shape shape = shapes_.at(static_cast<unsigned>(*from));
        if (tag.way == Way::other)
            shape = tellShape<stacks>(from, tag.shape);
        else
            from += tag.shapeLength;
        calls[count] = {now,         address,     shape.size, shape.usable,
                        shape.stack, tag.routine, tag.kind,   0};
        if (stacks)
            tables_.remember(coding::StackTables::addressPlace(address), address);
        at = from;
        time = ticks;
        base = stacks ? address & ~std::uint64_t{coding::grain - 1} : address;
        last = now;
    }
    at_ = at;
    time_ = time;
    base_ = base;
    lastTime = last;
    return count;
}

std::size_t BlockDecoder::plain(Call* calls, std::size_t most, std::uint64_t perTick,
                                std::uint64_t& lastTime) noexcept {
    return withStacks_ ? plainCalls<true>(calls, most, perTick, lastTime)
                       : plainCalls<false>(calls, most, perTick, lastTime);
}

} // namespace heapwright::trace

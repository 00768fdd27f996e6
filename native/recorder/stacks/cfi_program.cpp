// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The instructions of DWARF 5, section 6.4.2, with GNU's additions, on the registers of x86-64.
#include "cfi_program.hpp"

namespace heapwright::recorder::stacks {

namespace {

constexpr std::uint64_t frameRegister = 6;
constexpr std::uint64_t stackRegister = 7;

enum Operation : std::uint8_t {
    nop = 0x00,
    setLoc = 0x01,
    advanceLoc1 = 0x02,
    advanceLoc2 = 0x03,
    advanceLoc4 = 0x04,
    offsetExtended = 0x05,
    restoreExtended = 0x06,
    undefined = 0x07,
    sameValue = 0x08,
    inRegister = 0x09,
    rememberState = 0x0a,
    restoreState = 0x0b,
    defCfa = 0x0c,
    defCfaRegister = 0x0d,
    defCfaOffset = 0x0e,
    defCfaExpression = 0x0f,
    expression = 0x10,
    offsetExtendedSf = 0x11,
    defCfaSf = 0x12,
    defCfaOffsetSf = 0x13,
    valOffset = 0x14,
    valOffsetSf = 0x15,
    valExpression = 0x16,
    gnuArgsSize = 0x2e,
    gnuNegativeOffset = 0x2f,
    advanceLoc = 0x40, // and the following with a number in their lower six bits
    offset = 0x80,
    restoring = 0xc0,
};

/// Operators of expressions: the value of a register plus a number, what stands at an address.
constexpr std::uint8_t breg0 = 0x70;
constexpr std::uint8_t deref = 0x06;

constexpr bool fits(std::int64_t number) {
    return number >= INT32_MIN && number <= INT32_MAX;
}

} // namespace

std::int64_t CfiProgram::scaled(std::int64_t number) const noexcept {
    const auto product =
        static_cast<std::uint64_t>(number) * static_cast<std::uint64_t>(terms_.dataStep);
    return static_cast<std::int64_t>(product);
}

void CfiProgram::runInitial(Bytes code) noexcept {
    while (!code.empty() && !failed_ && step(code)) {
    }
    failed_ = failed_ || code.failed();
    initial_ = state_;
}

void CfiProgram::run(Bytes code, std::uint64_t address) noexcept {
    target_ = address;
    while (runCommon(code) && !code.empty() && !failed_ && step(code)) {
    }
    failed_ = failed_ || code.failed();
}

/// As many of the instructions that nearly all programs are made of as follow one another, their
/// numbers of one byte. False as with `step`.
bool CfiProgram::runCommon(Bytes& code) noexcept {
    const std::uint8_t* at = code.at();
    const std::uint8_t* const end = code.end();
    constexpr std::uint8_t oneByte = 0x80;
    for (; end - at >= 2; ++at) {
        const std::uint8_t kind = *at & 0xc0U;
        const std::uint8_t low = *at & 0x3fU;
        if (kind == advanceLoc) {
            advance(low);
            if (address_ > target_) {
                return false;
            }
        } else if (*at == defCfaOffset && at[1] < oneByte) {
            state_.offset = *++at;
        } else if (kind == offset && at[1] < oneByte) {
            setPlace(low, {Rule::atCfa, scaled(*++at)});
        } else {
            break;
        }
    }
    code.skip(static_cast<std::uint64_t>(at - code.at()));
    return true;
}

/// False once the next instructions describe code behind the requested address.
bool CfiProgram::step(Bytes& code) noexcept {
    const auto byte = code.take<std::uint8_t>();
    const std::uint8_t low = byte & 0x3fU;
    switch (byte & 0xc0U) {
    case advanceLoc:
        advance(low);
        return address_ <= target_;
    case offset:
        setPlace(low, {Rule::atCfa, scaled(static_cast<std::int64_t>(code.uleb()))});
        return true;
    case restoring:
        restore(low);
        return true;
    default:
        break;
    }
    switch (byte) {
    case nop:
        break;
    case advanceLoc1:
        advance(code.take<std::uint8_t>());
        break;
    case advanceLoc2:
        advance(code.take<std::uint16_t>());
        break;
    case advanceLoc4:
        advance(code.take<std::uint32_t>());
        break;
    case rememberState:
        remember();
        break;
    case restoreState:
        recall();
        break;
    default:
        stepExtended(byte, code);
    }
    return address_ <= target_;
}

void CfiProgram::stepExtended(std::uint8_t operation, Bytes& code) noexcept {
    if (operation >= defCfa && operation != expression && operation <= defCfaOffsetSf &&
        operation != offsetExtendedSf) {
        stepCfa(operation, code);
        return;
    }
    if (operation == gnuArgsSize) {
        code.uleb();
        return;
    }
    const std::uint64_t number = code.uleb();
    switch (operation) {
    case offsetExtended:
        setPlace(number, {Rule::atCfa, scaled(static_cast<std::int64_t>(code.uleb()))});
        break;
    case offsetExtendedSf:
        setPlace(number, {Rule::atCfa, scaled(code.sleb())});
        break;
    case gnuNegativeOffset:
        setPlace(number, {Rule::atCfa, -scaled(static_cast<std::int64_t>(code.uleb()))});
        break;
    case restoreExtended:
        restore(number);
        break;
    case undefined:
        setPlace(number, {Rule::undefined, 0});
        break;
    case sameValue:
        setPlace(number, {Rule::same, 0});
        break;
    case inRegister:
    case valOffset:
    case valOffsetSf:
        code.uleb();
        setPlace(number, {Rule::other, 0});
        break;
    case expression:
        takePlaceExpression(number, code.cut(code.uleb()));
        break;
    case valExpression:
        code.cut(code.uleb());
        setPlace(number, {Rule::other, 0});
        break;
    default:
        failed_ = true;
    }
}

void CfiProgram::stepCfa(std::uint8_t operation, Bytes& code) noexcept {
    switch (operation) {
    case defCfa:
        setBase(code.uleb());
        state_.offset = static_cast<std::int64_t>(code.uleb());
        break;
    case defCfaSf:
        setBase(code.uleb());
        state_.offset = scaled(code.sleb());
        break;
    case defCfaRegister:
        setBase(code.uleb());
        break;
    case defCfaOffset:
        state_.offset = static_cast<std::int64_t>(code.uleb());
        break;
    case defCfaOffsetSf:
        state_.offset = scaled(code.sleb());
        break;
    default:
        takeCfaExpression(code.cut(code.uleb()));
    }
}

void CfiProgram::remember() noexcept {
    if (depth_ == deepest) {
        failed_ = true;
        return;
    }
    remembered_[depth_++] = state_;
}

void CfiProgram::recall() noexcept {
    if (depth_ == 0) {
        failed_ = true;
        return;
    }
    state_ = remembered_[--depth_];
}

void CfiProgram::setBase(std::uint64_t number) noexcept {
    state_.base = number == stackRegister   ? Base::stack
                  : number == frameRegister ? Base::frame
                                            : Base::other;
}

void CfiProgram::setPlace(std::uint64_t number, Place place) noexcept {
    if (number == frameRegister) {
        state_.frame = place;
    } else if (number == terms_.returnRegister) {
        state_.back = place;
    }
}

void CfiProgram::restore(std::uint64_t number) noexcept {
    if (number == frameRegister) {
        state_.frame = initial_.frame;
    } else if (number == terms_.returnRegister) {
        state_.back = initial_.back;
    }
}

/// Two forms are supported. One is the word at a register plus a number (a realigned stack; the
/// kernel's signal frame). The other is the register plus a number itself.
void CfiProgram::takeCfaExpression(Bytes expression) noexcept {
    const auto operation = expression.take<std::uint8_t>();
    state_.base = Base::other;
    if (operation != breg0 + frameRegister && operation != breg0 + stackRegister) {
        return;
    }
    const bool frame = operation == breg0 + frameRegister;
    state_.offset = expression.sleb();
    if (expression.failed()) {
        return;
    }
    if (expression.empty()) {
        state_.base = frame ? Base::frame : Base::stack;
    } else if (expression.take<std::uint8_t>() == deref && expression.empty()) {
        state_.base = frame ? Base::frameWord : Base::stackWord;
    }
}

void CfiProgram::takePlaceExpression(std::uint64_t number, Bytes expression) noexcept {
    Place place{Rule::other, 0};
    if (expression.take<std::uint8_t>() == breg0 + frameRegister) {
        place = {Rule::atFrame, expression.sleb()};
        if (!expression.empty() || expression.failed()) {
            place = {Rule::other, 0};
        }
    }
    setPlace(number, place);
}

Row CfiProgram::row() const noexcept {
    Row row;
    if (failed_ || !fits(state_.offset) || !fits(state_.frame.offset)) {
        return row;
    }
    if (terms_.signal) {
        row.base = Row::Base::signal;
        return row;
    }
    if (state_.back.rule == Rule::undefined) {
        row.base = Row::Base::end;
        return row;
    }
    if (state_.back.rule != Rule::atCfa || state_.back.offset != -8) {
        return row;
    }
    row.offset = static_cast<std::int32_t>(state_.offset);
    row.base = state_.base == Base::stack       ? Row::Base::stack
               : state_.base == Base::frame     ? Row::Base::frame
               : state_.base == Base::frameWord ? Row::Base::frameWord
                                                : Row::Base::lost;
    switch (state_.frame.rule) {
    case Rule::same:
        break;
    case Rule::atCfa:
        row.saved = Row::Saved::atCfa;
        row.savedOffset = static_cast<std::int32_t>(state_.frame.offset);
        break;
    case Rule::atFrame:
        row.saved = Row::Saved::atFrame;
        row.savedOffset = static_cast<std::int32_t>(state_.frame.offset);
        break;
    default:
        row.saved = Row::Saved::lost;
    }
    return row;
}

} // namespace heapwright::recorder::stacks

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The program of a call frame description: instructions that change a row from address to address.
// Run up to one address, it leaves the row that holds there.
#pragma once

#include "bytes.hpp"
#include "row.hpp"

#include <array>
#include <cstdint>

namespace heapwright::recorder::stacks {

/// What a description and the entry that it shares with others say outside of their programs.
struct CfiTerms {
    std::uint64_t codeStep = 1;
    std::int64_t dataStep = -8;
    std::uint64_t returnRegister = 16;
    std::uint8_t encoding = 0; ///< of addresses
    bool augmented = false;    ///< both entries have a part for the augmentation
    bool signal = false;       ///< the frame that the kernel makes to call a signal handler
};

class CfiProgram {
public:
    CfiProgram(const CfiTerms& terms, std::uint64_t begin) noexcept
        : terms_(terms), address_(begin) {}

    /// Runs the shared instructions. `restore` returns to their row.
    void runInitial(Bytes code) noexcept;
    /// Runs the own ones as far as they are about `address` or what is before it.
    void run(Bytes code, std::uint64_t address) noexcept;

    /// The row as it stands, in the terms of the cache.
    [[nodiscard]] Row row() const noexcept;

private:
    enum class Base : std::uint8_t { other, stack, frame, frameWord, stackWord };
    enum class Rule : std::uint8_t { same, atCfa, atFrame, undefined, other };

    struct Place {
        Rule rule = Rule::same;
        std::int64_t offset = 0;
    };
    struct State {
        Base base = Base::other;
        std::int64_t offset = 0;
        Place frame;
        Place back; ///< of the return address
    };
    static constexpr std::size_t deepest = 8; ///< of remembered states

    bool runCommon(Bytes& code) noexcept;
    bool step(Bytes& code) noexcept;
    void stepExtended(std::uint8_t operation, Bytes& code) noexcept;
    void stepCfa(std::uint8_t operation, Bytes& code) noexcept;
    void remember() noexcept;
    void recall() noexcept;
    void setBase(std::uint64_t number) noexcept;
    void setPlace(std::uint64_t number, Place place) noexcept;
    void restore(std::uint64_t number) noexcept;
    void takeCfaExpression(Bytes expression) noexcept;
    void takePlaceExpression(std::uint64_t number, Bytes expression) noexcept;
    void advance(std::uint64_t steps) noexcept { address_ += steps * terms_.codeStep; }
    [[nodiscard]] std::int64_t scaled(std::int64_t number) const noexcept;

    CfiTerms terms_;
    std::uint64_t address_;
    std::uint64_t target_ = ~std::uint64_t{0};
    State state_;
    State initial_;
    std::array<State, deepest> remembered_{};
    std::size_t depth_ = 0;
    bool failed_ = false;
};

} // namespace heapwright::recorder::stacks

// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Instructions as an assembler writes them: those that lock, and those that only look like it.
#include <valgrind/count/decode.hpp>

#include <gtest/gtest.h>
#include <vector>

namespace heapwright::valgrind {
namespace {

Locking of(std::vector<std::uint8_t> bytes) {
    return lockingOf(bytes);
}

TEST(Decode, ALockPrefixLocksWhereverItStands) {
    EXPECT_EQ(of({0xF0, 0x48, 0x0F, 0xC1, 0x07}), Locking::prefix);       // lock xadd %rax,(%rdi)
    EXPECT_EQ(of({0x66, 0xF0, 0x83, 0x00, 0x01}), Locking::prefix);       // lock addw $1,(%rax)
    EXPECT_EQ(of({0x64, 0xF0, 0xFF, 0x04, 0x25}), Locking::prefix);       // lock incl %fs:…
    EXPECT_EQ(of({0xF2, 0xF0, 0x0F, 0xB1, 0x0F}), Locking::prefix);       // xacquire lock cmpxchg
    EXPECT_EQ(of({0xF0, 0x41, 0x0F, 0xB1, 0x08}), Locking::prefix);       // lock cmpxchg %ecx,(%r8)
    EXPECT_EQ(of({0xF0, 0x48, 0x83, 0x0C, 0x24, 0x00}), Locking::prefix); // lock orq $0,(%rsp)
}

TEST(Decode, AnExchangeWithMemoryLocks) {
    EXPECT_EQ(of({0x87, 0x07}), Locking::exchange);                   // xchg %eax,(%rdi)
    EXPECT_EQ(of({0x86, 0x47, 0x08}), Locking::exchange);             // xchg %al,8(%rdi)
    EXPECT_EQ(of({0x48, 0x87, 0x05, 0, 0, 0, 0}), Locking::exchange); // xchg %rax,0(%rip)
    EXPECT_EQ(of({0x66, 0x45, 0x87, 0x18}), Locking::exchange);       // xchg %r11w,(%r8)
}

TEST(Decode, AnExchangeOfRegistersDoesNot) {
    EXPECT_EQ(of({0x87, 0xC8}), Locking::none);       // xchg %ecx,%eax
    EXPECT_EQ(of({0x48, 0x87, 0xDB}), Locking::none); // xchg %rbx,%rbx
    EXPECT_EQ(of({0x90}), Locking::none);             // nop
}

TEST(Decode, TheBytesOfOtherInstructionsAreNoPrefixes) {
    EXPECT_EQ(of({0x04, 0xF0}), Locking::none);                // add $0xf0,%al
    EXPECT_EQ(of({0x0F, 0xF0, 0x07}), Locking::none);          // lddqu, but for its prefix
    EXPECT_EQ(of({0x0F, 0x87, 0x00, 0, 0, 0}), Locking::none); // ja
    EXPECT_EQ(of({0x48, 0xF0, 0x87, 0x07}), Locking::none);    // a prefix behind REX is none
    EXPECT_EQ(of({0xC5, 0xF0, 0x58, 0xC2}), Locking::none);    // vaddps
    EXPECT_EQ(of({0x48, 0xC7, 0xC0, 0xF0, 0, 0, 0}), Locking::none);
}

TEST(Decode, ATruncatedRecordIsNone) {
    EXPECT_EQ(of({}), Locking::none);
    EXPECT_EQ(of({0x66}), Locking::none);
    EXPECT_EQ(of({0x48, 0x87}), Locking::none);
}

} // namespace
} // namespace heapwright::valgrind

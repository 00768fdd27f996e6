// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// dlopen and dlmopen for 64-bit ARM: clear RTLD_DEEPBIND and jump to the next definition. next.cpp
// gives the reason.
//
// Arguments arrive in x0, x1, x2. x30 is the caller's return address, saved only during the search
// of the first call. The jump uses x16, which a landing pad for calls (BTI) accepts.

asm(R"(
        .text
        .p2align 4
        .globl  dlopen
        .type   dlopen, %function
dlopen:
        .cfi_startproc
        hint    #34                             // bti c
        and     w1, w1, #0xfffffff7             // flags of dlopen(file, flags)
        adrp    x16, heapwrightNextDlopen
        ldr     x16, [x16, #:lo12:heapwrightNextDlopen]
        cbz     x16, 1f
        br      x16
1:      stp     x0, x1, [sp, #-32]!
        .cfi_adjust_cfa_offset 32
        str     x30, [sp, #16]
        .cfi_rel_offset x30, 16
        bl      heapwrightFindDlopen
        mov     x16, x0
        ldr     x30, [sp, #16]
        .cfi_restore x30
        ldp     x0, x1, [sp], #32
        .cfi_adjust_cfa_offset -32
        br      x16
        .cfi_endproc
        .size   dlopen, . - dlopen

        .p2align 4
        .globl  dlmopen
        .type   dlmopen, %function
dlmopen:
        .cfi_startproc
        hint    #34                             // bti c
        cbnz    x0, 1f                          // another namespace has an allocator of its own
        and     w2, w2, #0xfffffff7             // flags of dlmopen(namespace, file, flags)
1:      adrp    x16, heapwrightNextDlmopen
        ldr     x16, [x16, #:lo12:heapwrightNextDlmopen]
        cbz     x16, 2f
        br      x16
2:      stp     x0, x1, [sp, #-32]!
        .cfi_adjust_cfa_offset 32
        stp     x2, x30, [sp, #16]
        .cfi_rel_offset x30, 24
        bl      heapwrightFindDlmopen
        mov     x16, x0
        ldp     x2, x30, [sp, #16]
        .cfi_restore x30
        ldp     x0, x1, [sp], #32
        .cfi_adjust_cfa_offset -32
        br      x16
        .cfi_endproc
        .size   dlmopen, . - dlmopen
)");

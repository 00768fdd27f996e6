// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// dlopen and dlmopen for x86-64: clear RTLD_DEEPBIND and jump to the next definition. next.cpp
// gives the reason.
//
// Arguments arrive in rdi, rsi, rdx. On entry the stack is 8 bytes off a 16-byte boundary, so three
// pushes align it for the call. The caller's return address is never changed.

asm(R"(
        .text
        .p2align 4
        .globl  dlopen
        .type   dlopen, @function
dlopen:
        .cfi_startproc
        endbr64
        andl    $-9, %esi                       # flags of dlopen(file, flags)
        movq    heapwrightNextDlopen(%rip), %rax
        testq   %rax, %rax
        je      1f
        jmp     *%rax
1:      pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    heapwrightFindDlopen
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size   dlopen, . - dlopen

        .p2align 4
        .globl  dlmopen
        .type   dlmopen, @function
dlmopen:
        .cfi_startproc
        endbr64
        testq   %rdi, %rdi                      # another namespace has an allocator of its own
        jne     1f
        andl    $-9, %edx                       # flags of dlmopen(namespace, file, flags)
1:      movq    heapwrightNextDlmopen(%rip), %rax
        testq   %rax, %rax
        je      2f
        jmp     *%rax
2:      pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        pushq   %rdx
        .cfi_adjust_cfa_offset 8
        call    heapwrightFindDlmopen
        popq    %rdx
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        jmp     *%rax
        .cfi_endproc
        .size   dlmopen, . - dlmopen
)");

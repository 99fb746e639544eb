/* Collectives of programs under --checkpoint: each asks first whether all ranks are to be saved now (moments.cpp), and then is
 * the library's own. Where a checkpoint is made, and where the rank goes on afterwards, only these frames lie on the stack. */
        .macro  MOMENT name, comm
        .globl  tmpi_moment_\name
        .hidden tmpi_moment_\name
        .type   tmpi_moment_\name, @function
        .p2align 4
tmpi_moment_\name:
        .cfi_startproc
        pushq   %rdi
        pushq   %rsi
        pushq   %rdx
        pushq   %rcx
        pushq   %r8
        pushq   %r9
        .cfi_adjust_cfa_offset 48
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        movq    \comm, %rdi
        call    tmpi_moment             /* the directory, or null */
        testq   %rax, %rax
        je      1f
        movq    %rax, %rdi
        call    tmpi_checkpoint_at_moment
1:      addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r9
        popq    %r8
        popq    %rcx
        popq    %rdx
        popq    %rsi
        popq    %rdi
        .cfi_adjust_cfa_offset -48
        jmp     PMPI_\name@PLT
        .cfi_endproc
        .size   tmpi_moment_\name, . - tmpi_moment_\name
        .endm

        .text
        MOMENT  Barrier, %rdi
        MOMENT  Bcast, %r8
        MOMENT  Allreduce, %r9
        MOMENT  Reduce, 64(%rsp)        /* the seventh argument: above the return address */
        .section .note.GNU-stack, "", @progbits

/* int MPIX_Checkpoint(const char* directory), and where a rank that has been revived goes on: as if this function had
 * returned. What the caller expects to find again lies on the rank's stack, which is saved from here on; nothing of the
 * runtime's frames is. */
        .macro  SAVED_FROM_HERE name, function
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .cfi_startproc
        pushq   %rbp
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbp, 0
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset rbx, 0
        pushq   %r12
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r12, 0
        pushq   %r13
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r13, 0
        pushq   %r14
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r14, 0
        pushq   %r15
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset r15, 0
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        stmxcsr (%rsp)                  /* how floating point rounds, and what it traps */
        fnstcw  4(%rsp)
        movq    %rsp, %rsi
        call    \function               /* (directory, stack) */
.Lreturn_\name:
        ldmxcsr (%rsp)
        fldcw   4(%rsp)
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %r15
        .cfi_adjust_cfa_offset -8
        .cfi_restore r15
        popq    %r14
        .cfi_adjust_cfa_offset -8
        .cfi_restore r14
        popq    %r13
        .cfi_adjust_cfa_offset -8
        .cfi_restore r13
        popq    %r12
        .cfi_adjust_cfa_offset -8
        .cfi_restore r12
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbx
        popq    %rbp
        .cfi_adjust_cfa_offset -8
        .cfi_restore rbp
        ret
        .cfi_endproc
        .size   \name, . - \name
        .endm

        .text
        SAVED_FROM_HERE PMPIX_Checkpoint, tmpi_checkpoint
        .hidden tmpi_checkpoint_at_moment /* what fails there is a warning: moments.S */
        SAVED_FROM_HERE tmpi_checkpoint_at_moment, tmpi_checkpoint_quietly
        .weak   MPIX_Checkpoint
        .set    MPIX_Checkpoint, PMPIX_Checkpoint

/* void tmpi_go_on_at(void* stack): in the process where the rank has been revived. */
        .globl  tmpi_go_on_at
        .hidden tmpi_go_on_at
        .type   tmpi_go_on_at, @function
        .p2align 4
tmpi_go_on_at:
        .cfi_startproc
        .cfi_undefined rip              /* nobody returns from here */
        movq    %rdi, %rsp
        xorl    %eax, %eax              /* MPI_SUCCESS */
        jmp     .Lreturn_PMPIX_Checkpoint /* whichever of the two has saved it: their frames are alike */
        .cfi_endproc
        .size   tmpi_go_on_at, . - tmpi_go_on_at
        .section .note.GNU-stack, "", @progbits

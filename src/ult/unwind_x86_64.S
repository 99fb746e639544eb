/* _Unwind_Reason_Code tmpi_unwind_from(const Registers* registers, _Unwind_Trace_Fn function, void* argument): a backtrace of a flow of
 * control that does not run, whose registers somebody else has. Unwinders start where they are called and go by what is said of each
 * function: of this one it is said that its caller's registers lie in *registers (kept in rbx). So any unwinder goes on there, in the
 * stack that belongs to them. A "signal frame": the instruction there need not be a call. */
        .text
        .globl  tmpi_unwind_from
        .hidden tmpi_unwind_from
        .type   tmpi_unwind_from, @function
        .p2align 4
/* The rule "register \number was saved at rbx + 8 * number": DW_CFA_expression, number, 3 bytes: DW_OP_breg3, offset (two bytes). */
        .macro  saved number
        .cfi_escape 0x10, \number, 0x03, 0x73, ((8 * \number) & 0x7f) | 0x80, (8 * \number) >> 7
        .endm
tmpi_unwind_from:
        .cfi_startproc
        .cfi_signal_frame
        pushq   %rbx
        .cfi_adjust_cfa_offset 8
        .cfi_rel_offset %rbx, 0
        movq    %rdi, %rbx
        .cfi_remember_state
        /* The caller's stack pointer is the word at rbx + 56: DW_CFA_def_cfa_expression, DW_OP_breg3 56, DW_OP_deref. */
        .cfi_escape 0x0f, 0x03, 0x73, 0x38, 0x06
        .irp    number, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16
        saved   \number
        .endr
        movq    %rsi, %rdi
        movq    %rdx, %rsi
        call    _Unwind_Backtrace@PLT
        .cfi_restore_state
        popq    %rbx
        .cfi_adjust_cfa_offset -8
        .cfi_restore %rbx
        ret
        .cfi_endproc
        .size   tmpi_unwind_from, . - tmpi_unwind_from
        .section .note.GNU-stack, "", @progbits

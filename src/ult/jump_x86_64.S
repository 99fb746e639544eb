/* transfer_t tmpi_jump_fcontext(fcontext_t to, void* data): Boost.Context's jump_fcontext, in step with the processor's return predictor.
 *
 * jump_fcontext is called, but comes back by an indirect jump. Each switch thus leaves an entry too many on the predictor's stack of
 * return addresses, and every return after it (out of the switch, the wait, the MPI call) is mispredicted: 5 ns each. Here a call is
 * answered by a return. Fibers that wait in the same place, as ranks of one program do, have the same chain of callers, so
 * that even the returns that follow are predicted right. */
        .text
        .globl  tmpi_jump_fcontext
        .hidden tmpi_jump_fcontext
        .type   tmpi_jump_fcontext, @function
        .p2align 4
tmpi_jump_fcontext:
        .cfi_startproc
        leaq    .Lback(%rip), %rax
        pushq   %rax                    /* the return address, without a call */
        .cfi_adjust_cfa_offset 8
        jmp     jump_fcontext@PLT       /* direct when Boost.Context is linked from its archive */
        .cfi_adjust_cfa_offset -8
        nop                             /* never run: unwinders look a return address up one byte before it */
        .globl  tmpi_jump_fcontext_back /* where every suspended fiber goes on: registers.cpp */
        .hidden tmpi_jump_fcontext_back
tmpi_jump_fcontext_back:
.Lback:
        ret                             /* transfer_t passes through in rax, rdx */
        .cfi_endproc
        .size   tmpi_jump_fcontext, . - tmpi_jump_fcontext
        .section .note.GNU-stack, "", @progbits

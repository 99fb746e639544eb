# vfork() of a rank. The child borrows the stack until it has started its program, so that no C function can make it:
# the return address is kept in a register, which the kernel gives back to each of the two.

        .text
        .globl  vfork, __vfork
        .type   vfork, @function
        .set    __vfork, vfork
vfork:
        .cfi_startproc
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        .cfi_register %rip, %rdi
        movl    $58, %eax               # SYS_vfork
        syscall
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        .cfi_offset %rip, -8
        testl   %eax, %eax
        jz      .Lchild
        movl    %eax, %edi
        jmp     tmpi_shim_vforked       # the parent; or nobody, and the number is an error
.Lchild:
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    tmpi_shim_enter_vfork_child
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        xorl    %eax, %eax
        ret
        .cfi_endproc
        .size   vfork, . - vfork
        .section .note.GNU-stack, "", @progbits

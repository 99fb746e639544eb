/* An absolute address in code. */
        .text
        .globl main
main:   movabsq $main, %rax
        xorl %eax, %eax
        ret
        .section .note.GNU-stack, "", @progbits

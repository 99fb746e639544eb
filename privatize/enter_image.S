# tmpi_enter_image: calls a function in an image. For unwinders the stack begins here: a program's exception that nobody
# catches ends at the bottom of its own stack, as in a process, and not in a frame of the runtime, which would take it for
# an error of its own. Contract: entry.hpp.

    .text
    .globl tmpi_enter_image
    .hidden tmpi_enter_image
    .type tmpi_enter_image, @function
tmpi_enter_image:
    .cfi_startproc
    .cfi_undefined %rip
    push %rbp
    mov %rdi, %rax
    mov %esi, %edi
    mov %rdx, %rsi
    mov %rcx, %rdx
    xor %ebp, %ebp
    call *%rax
    pop %rbp
    ret
    .cfi_endproc
    .size tmpi_enter_image, . - tmpi_enter_image

    .section .note.GNU-stack, "", @progbits

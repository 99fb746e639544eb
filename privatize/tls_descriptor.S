# The functions behind TLS descriptors (-mtls-dialect=gnu2). rax points to the descriptor on entry; on return it is the variable's
# distance from the thread pointer. Every other register is kept, hence assembly: the fast paths touch nothing else, the slow
# paths save the vector state with xsave. Contract: tls.hpp, TlsDescriptorFunctions.

    .text

# Calls \target(8(%rax)) with everything but rax and the flags preserved.
    .macro CALL_SAVING_REGISTERS target
    .cfi_startproc
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    push %rbx
    push %r12
    push %rcx
    push %rdx
    push %rsi
    push %rdi
    push %r8
    push %r9
    push %r10
    push %r11
    mov 8(%rax), %rdi
    lea -80(%rbp), %r12
    sub $3072, %rsp                 # x87, SSE, AVX, AVX-512: at most 2,688 bytes
    and $-64, %rsp
    xor %eax, %eax                  # the header of the xsave area must be zero
    mov %rax, 512(%rsp)
    mov %rax, 520(%rsp)
    mov %rax, 528(%rsp)
    mov %rax, 536(%rsp)
    mov %rax, 544(%rsp)
    mov %rax, 552(%rsp)
    mov %rax, 560(%rsp)
    mov %rax, 568(%rsp)
    mov $0xe7, %eax                 # the components above, as far as the system has enabled them
    xor %edx, %edx
    xsave (%rsp)
    cld
    call \target
    mov %rax, %rbx
    mov $0xe7, %eax
    xor %edx, %edx
    xrstor (%rsp)
    mov %rbx, %rax
    mov %r12, %rsp
    pop %r11
    pop %r10
    pop %r9
    pop %r8
    pop %rdi
    pop %rsi
    pop %rdx
    pop %rcx
    pop %r12
    pop %rbx
    pop %rbp
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .endm

    .hidden tmpi_tls_descriptor_copy
    .hidden tmpi_tls_descriptor_system

# The variable lies in the rank's block; a helper thread has a copy of it.
    .globl tmpi_tlsdesc_image
    .hidden tmpi_tlsdesc_image
    .type tmpi_tlsdesc_image, @function
tmpi_tlsdesc_image:
    cmpb $0, %fs:_ZN4tmpi9privatize6detail9t_contextE@tpoff+4  # ThreadContext::helper; this is part of executables only
    jne helper_thread
    mov 8(%rax), %rax
    sub %fs:0, %rax
    ret
helper_thread:
    CALL_SAVING_REGISTERS tmpi_tls_descriptor_copy
    .size tmpi_tlsdesc_image, . - tmpi_tlsdesc_image

    .globl tmpi_tlsdesc_constant
    .hidden tmpi_tlsdesc_constant
    .type tmpi_tlsdesc_constant, @function
tmpi_tlsdesc_constant:
    mov 8(%rax), %rax
    ret
    .size tmpi_tlsdesc_constant, . - tmpi_tlsdesc_constant

    .globl tmpi_tlsdesc_system
    .hidden tmpi_tlsdesc_system
    .type tmpi_tlsdesc_system, @function
tmpi_tlsdesc_system:
    CALL_SAVING_REGISTERS tmpi_tls_descriptor_system
    .size tmpi_tlsdesc_system, . - tmpi_tlsdesc_system

    .section .note.GNU-stack, "", @progbits

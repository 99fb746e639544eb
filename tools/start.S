/* start.o: what the wrappers link in front of a program, in place of the system's crt1.o. With it a shared object is a program that the
 * kernel can start by itself, and that tmpirun's loader knows and maps once per rank (docs/design/privatization.md, link form). */
#if !defined(__x86_64__)
#error "tmpi programs start on x86-64 only so far: port tools/start.S to this machine"
#endif

/* Names the dynamic linker: the linker adds this for executables only. */
        .section .interp, "a", @progbits
tmpi_interpreter:
        .string "/lib64/ld-linux-x86-64.so.2"

/* The note that marks a tmpi program (privatize/elf_file.hpp reads it). The address of main is not recorded: a note is read-only, and main
 * may lie in a library of the program, so that the address would need a relocation there. The loader finds main in the dynamic
 * symbol table or, when it is hidden, as the first argument of __libc_start_main. */
        .section .note.tmpi, "a", @note
        .p2align 2
        .long 2f - 1f, 4f - 3f, 1                    /* sizes of name and description, type */
1:      .asciz "tmpi"
2:      .p2align 2
3:      .long 1, 0                                   /* version of this format; padding */
        .quad 0                                      /* address of main, 0: not recorded */
4:
        /* Keeps .interp under -Wl,--gc-sections: linkers keep notes, and what notes refer to. */
        .reloc 3b, R_X86_64_NONE, tmpi_interpreter

/* The process entry point of the x86-64 ABI: rsp points at argc, argv, envp; rdx holds the dynamic linker's exit function. */
        .text
        .globl _start
        .type _start, @function
_start:
        .cfi_startproc
        .cfi_undefined rip
        endbr64
        xorl %ebp, %ebp                              /* the outermost frame */
        movq %rdx, %r9                               /* rtld_fini */
        popq %rsi                                    /* argc */
        movq %rsp, %rdx                              /* argv */
        andq $-16, %rsp
        pushq %rax
        pushq %rsp                                   /* stack_end */
        xorl %r8d, %r8d                              /* fini and init: the dynamic linker runs them */
        xorl %ecx, %ecx
        movq main@GOTPCREL(%rip), %rdi
        call *__libc_start_main@GOTPCREL(%rip)       /* does not return */
        hlt
        .cfi_endproc
        .size _start, . - _start

/* Start of the initialized data, which garbage collectors and profilers look for. */
        .data
        .globl __data_start
        .weak data_start
__data_start:
data_start:
        .long 0

        .section .note.GNU-stack, "", @progbits

// Calls of fast32.rs: 64-bit code that goes through 32-bit code in a page below 4 GiB.
// By far jumps: QEMU 7.2's interpreter reads the stack of a program's far return with the kernel's
// rights.

.pushsection .text.pathmeter_fast32, "ax", @progbits

// u32 pathmeter_fast32_calls(page, arguments, stack): the or of all results.
// arguments: descriptor, command, argument, calls. The kernel may lose what 32-bit code lacks.
.globl pathmeter_fast32_calls
pathmeter_fast32_calls:
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        mov     %rsp, %rax
        mov     %rdx, %rsp
        push    %rax
        mov     %rdi, %rcx
        mov     (%rsi), %ebx
        mov     4(%rsi), %ebp
        mov     8(%rsi), %edx
        mov     12(%rsi), %esi
        xor     %edi, %edi
        call    *%rcx
        mov     %edi, %eax
        pop     %rsp
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
.popsection

// The page: copied, and its two far pointers filled in.
.pushsection .rodata.pathmeter_fast32, "a", @progbits
.globl pathmeter_fast32_page, pathmeter_fast32_narrow, pathmeter_fast32_wide
.globl pathmeter_fast32_pointers, pathmeter_fast32_page_end

pathmeter_fast32_page:
        ljmpl   *pathmeter_fast32_pointers(%rip)

.code32
pathmeter_fast32_narrow:
        mov     $54, %eax                       // ioctl; the second argument in ebp
        syscall                                 // loses ecx
        or      %eax, %edi
        dec     %esi
        jnz     pathmeter_fast32_narrow
        call    1f
1:      pop     %eax
        ljmpl   *(pathmeter_fast32_pointers + 8 - 1b)(%eax)
.code64
pathmeter_fast32_wide:
        ret

        .balign 8
pathmeter_fast32_pointers:
        .quad   0, 0
pathmeter_fast32_page_end:
.popsection

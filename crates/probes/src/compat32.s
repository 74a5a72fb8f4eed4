// The 32-bit program of compat32.rs: parameters, the request, then code; position-independent.
// Registers: esi = the parameters; the kernel preserves ebx, ecx, edx, esi, edi and ebp over a call.

.pushsection .rodata.pathmeter_compat32, "a", @progbits
.code32
.globl pathmeter_compat32, pathmeter_compat32_end

.set SOCKET,  0
.set OUTPUT,  4
.set WINDOWS, 8
.set REQUEST, 12
.set NUMBER,  16
.set IFREQ,   20          // struct ifreq for 32-bit callers, 32 bytes; ifr_ifindex at 16
.set CODE,    52

pathmeter_compat32:
        .fill   5, 4, 0                         // struct Parameters
        .byte   'l', 'o'
        .fill   30, 1, 0                        // struct ifreq: "lo"
start:
        call    1f
1:      pop     %esi
        sub     $(1b - pathmeter_compat32), %esi

        // Behind argc, argv and envp stands the auxiliary vector: find AT_SYSINFO (32).
        mov     (%esp), %ecx
        lea     8(%esp, %ecx, 4), %eax
2:      mov     (%eax), %edx
        add     $4, %eax
        test    %edx, %edx
        jnz     2b
3:      mov     (%eax), %edx
        cmp     $32, %edx
        je      4f
        add     $8, %eax
        test    %edx, %edx
        jnz     3b
        mov     $1, %eax                        // no fast entry: exit(99)
        mov     $99, %ebx
        int     $0x80
4:      mov     4(%eax), %eax
        sub     $20, %esp                       // 0: entry, 4: struct Record
        mov     %eax, (%esp)

        mov     %eax, %ecx                      // write(output, entry, 32)
        mov     $32, %edx
        mov     OUTPUT(%esi), %ebx
        mov     $4, %eax
        call    *(%esp)

window: movl    $-1, IFREQ+16(%esi)             // poison
        .byte   0x0f, 0x1f, 0x84, 0x00, 0x00, 0x01, 0x4d, 0x50  // clock.rs: mark!(begin)
        rdtsc
        mov     %eax, 4(%esp)
        mov     %edx, 8(%esp)
        mov     SOCKET(%esi), %ebx
        mov     REQUEST(%esi), %ecx
        lea     IFREQ(%esi), %edx
        mov     NUMBER(%esi), %eax
        call    *(%esp)
        mov     %eax, %edi
        rdtsc
        .byte   0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x4d, 0x50  // clock.rs: mark!(end)
        sub     4(%esp), %eax
        sbb     8(%esp), %edx
        mov     %eax, 4(%esp)
        mov     %edx, 8(%esp)
        mov     %edi, 12(%esp)
        mov     IFREQ+16(%esi), %eax
        mov     %eax, 16(%esp)

        lea     4(%esp), %ecx                   // write(output, record, 16)
        mov     $16, %edx
        mov     OUTPUT(%esi), %ebx
        mov     $4, %eax
        call    *(%esp)
        decl    WINDOWS(%esi)
        jnz     window

        mov     $1, %eax                        // exit(0)
        xor     %ebx, %ebx
        call    *(%esp)
pathmeter_compat32_end:
.code64
.popsection

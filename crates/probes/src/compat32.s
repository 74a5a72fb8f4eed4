// The 32-bit program of compat32.rs: parameters, the request, then code; position-independent.
// Registers: esi = the parameters; the kernel preserves ebx, ecx, edx, esi, edi and ebp over a
// call.

.pushsection .rodata.pathmeter_compat32, "a", @progbits
.code32
.globl pathmeter_compat32, pathmeter_compat32_end

.set FILE,        0
.set OUTPUT,      4
.set WINDOWS,     8
.set COMMAND,     12
.set NUMBER,      16
.set ANSWER,      20
.set PAUSES,      24      // 0: no pauses before the windows; else a mask of how many
.set STRUCTURE,   28      // 32 bytes: what the ioctl is about; at first a struct ifreq

pathmeter_compat32:
        .fill   7, 4, 0                         // struct Parameters
        .byte   'l', 'o'
        .fill   30, 1, 0                        // struct ifreq: "lo"
start:
        call    1f
1:      pop     %esi
        sub     $(1b - pathmeter_compat32), %esi

        // After argc, argv and envp comes the auxiliary vector: find AT_SYSINFO (32).
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

window: mov     PAUSES(%esi), %ecx
        test    %ecx, %ecx
        jz      6f
        and     WINDOWS(%esi), %ecx
5:      pause
        dec     %ecx
        jns     5b

6:      mov     ANSWER(%esi), %eax
        movl    $-1, STRUCTURE(%esi, %eax)      // poison
        .byte   0x0f, 0x1f, 0x84, 0x00, 0x00, 0x01, 0x4d, 0x50  // clock.rs: marker_code!(begin)
        rdtsc
        mov     %eax, 4(%esp)
        mov     %edx, 8(%esp)
        mov     FILE(%esi), %ebx
        mov     COMMAND(%esi), %ecx
        lea     STRUCTURE(%esi), %edx
        mov     NUMBER(%esi), %eax
        call    *(%esp)
        mov     %eax, %edi
        rdtsc
        .byte   0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x4d, 0x50  // clock.rs: marker_code!(end)
        sub     4(%esp), %eax
        sbb     8(%esp), %edx
        mov     %eax, 4(%esp)
        mov     %edx, 8(%esp)
        mov     %edi, 12(%esp)
        mov     ANSWER(%esi), %eax
        mov     STRUCTURE(%esi, %eax), %eax
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

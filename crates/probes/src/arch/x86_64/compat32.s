// The 32-bit program of compat32.rs: parameters, the request, then code; position-independent. With
// a FLAG it does no ioctls but yields.
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
.set FLAG,        28      // 0: ioctls; else the flag that one of two tasks yields with
.set SIGNALS,     32      // 1: the other task signals it; 2: it signals the other; else none does
.set STRUCTURE,   36      // 32 bytes: what the ioctl is about; at first a struct ifreq

pathmeter_compat32:
        .fill   9, 4, 0                         // struct Parameters
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
        cmpl    $0, FLAG(%esi)
        jne     yields

window: mov     PAUSES(%esi), %ecx
        test    %ecx, %ecx
        jz      6f
        and     WINDOWS(%esi), %ecx
5:      pause
        dec     %ecx
        jns     5b

6:      mov     ANSWER(%esi), %eax
        movl    $-1, STRUCTURE(%esi, %eax)      // poison
        .byte   0x0f, 0x1f, 0x84, 0x00, 0x00, 0x01, 0x4d, 0x50  // stamp.rs: marker_code!(begin)
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
        .byte   0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x4d, 0x50  // stamp.rs: marker_code!(end)
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

// This task yields without the flag, a child with it: WINDOWS times each, by the entry. Every other
// call is made by int 0x80, which clears the flags on its way in and gives them back.
yields: mov     (%esp), %ebp                    // the entry
        lea     handler - pathmeter_compat32(%esi), %ecx
        mov     $10, %ebx                       // signal(SIGUSR1, handler): for one signal
        mov     $48, %eax
        int     $0x80
        mov     $2, %eax                        // fork()
        int     $0x80
        test    %eax, %eax
        jz      setter
        js      failed
        mov     %eax, %ebx
        xor     %edi, %edi
        mov     WINDOWS(%esi), %edx
1:      mov     $0x202, %eax
        call    yield
        or      %eax, %edi                      // all flags ever seen
        cmpl    $1, SIGNALS(%esi)
        jne     2f
        call    signal
2:      dec     %edx
        jnz     1b
        mov     %edi, 4(%esp)
        lea     8(%esp), %ecx                   // waitpid(child, 8(%esp), 0)
        mov     $7, %eax
        int     $0x80
        lea     4(%esp), %ecx                   // write(output, struct Yields, 8)
        mov     $8, %edx
        mov     OUTPUT(%esi), %ebx
        mov     $4, %eax
        int     $0x80
        xor     %ebx, %ebx                      // exit(0)
3:      mov     $1, %eax
        int     $0x80
failed: mov     $98, %ebx                       // exit(98)
        jmp     3b

setter: mov     $9, %ecx                        // prctl(PR_SET_PDEATHSIG, SIGKILL)
        mov     $1, %ebx
        mov     $172, %eax
        int     $0x80
        cmpl    $2, SIGNALS(%esi)
        jne     1f
        mov     $64, %eax                       // getppid()
        int     $0x80
        mov     %eax, %ebx
        call    signal
1:      mov     $-1, %edi
        mov     WINDOWS(%esi), %edx
2:      mov     FLAG(%esi), %eax
        or      $0x202, %eax
        call    yield
        and     %eax, %edi                      // the flags always seen
        dec     %edx
        jnz     2b
        xor     %ebx, %ebx                      // exit(1 if FLAG is among them)
        test    %edi, FLAG(%esi)
        setnz   %bl
        jmp     3b

signal: mov     $10, %ecx                       // kill(ebx, SIGUSR1), once
        mov     $37, %eax
        int     $0x80
        movl    $0, SIGNALS(%esi)
handler: ret

// Yields with the flags eax, and returns those that it comes back with.
yield:  pushf
        push    %eax
        popf
        mov     $158, %eax
        call    *%ebp
        pushf
        pop     %eax
        popf
        ret
pathmeter_compat32_end:
.code64
.popsection

/* A program's first instructions: the stack holds argc, argv, a null, envp, a null, auxv. */
#ifdef __x86_64__
	.globl _start
_start:
	xor %ebp, %ebp
	mov %rsp, %rdi
	and $-16, %rsp
	call start_c
	ud2

/* What a signal handler returns to; the kernel is told of it by SA_RESTORER. */
	.globl signal_restorer
signal_restorer:
	mov $15, %eax
	syscall
	ud2
#else
	.globl _start
_start:
	xor %ebp, %ebp
	mov %esp, %eax
	and $-16, %esp
	sub $12, %esp
	push %eax
	call start_c
	ud2
#endif
	.section .note.GNU-stack, "", @progbits

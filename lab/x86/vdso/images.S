/*
 * The getcpu images, as built from getcpu.S, and the table by which vdso.c finds the chosen one:
 * struct vdso_image vdso_images[method][cache], the methods in the order of enum getcpu_variant,
 * and vdso_mode_images[cache].
 */
	.section .rodata
	.balign 8

.macro IMAGE name
	.pushsection .rodata.vdso, "a"
	.balign 8
771:	.incbin "vdso/getcpu-\name\().so"
772:
	.popsection
	.quad	771b, 772b - 771b
.endm

	.globl vdso_images
vdso_images:
.irp method, syscall, cpuid, lsl, rdtscp, rdpid, sgdt, sidt, sldt
	IMAGE	\method
	IMAGE	\method\()-cache
.endr

	.globl vdso_mode_images
vdso_mode_images:
	IMAGE	mode
	IMAGE	mode-cache

	.section .note.GNU-stack, "", @progbits

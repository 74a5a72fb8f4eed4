/*
 * A kernel that scribbles on the protocol port for ever: the upper bytes of a linear congruential
 * generator (Numerical Recipes, 3rd edition, section 7.1: multiplier and increment).
 */
#include "fake.h"

KERNEL
	CONSOLE	linux_banner
	movl	$1, %ebx
next:	imull	$1664525, %ebx
	addl	$1013904223, %ebx
	movl	%ebx, %eax
	shrl	$24, %eax
	outb	%al, $PROTOCOL
	jmp	next

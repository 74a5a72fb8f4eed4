/*
 * What an instruction can be, whatever the architecture: how control leaves it, and what its
 * accesses to memory mean.
 */
#ifndef PLUGIN_KINDS_H
#define PLUGIN_KINDS_H

enum ending {			/* how control leaves a block's last instruction */
	NEXT,			/* to the next one */
	JUMP,			/* to the next one or to `target` */
	CALL,			/* to `target` */
	ANYWHERE,		/* to an address from memory or a register */
	CALL_ANYWHERE,
	GATE,			/* into the kernel or out of it */
	INTERRUPT_RETURN,
	REPEAT,			/* to the next one, or to itself */
};

/* What a memory callback of an instruction means that is executed once for each element of a
 * string; PLAIN: it is none. */
enum string { PLAIN, LAST_ACCESS_IS_STORE, LAST_ACCESS_IS_LOAD, LOADS_TWICE };

#endif

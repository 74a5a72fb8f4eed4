/*
 * What only the lab kernel has: one system call with sub-commands, the same number for 64-bit and
 * 32-bit programs. Everything else is Linux's ABI. On Linux the number has no meaning: -ENOSYS.
 *
 * Usable from C and assembly.
 */
#ifndef LAB_UAPI_H
#define LAB_UAPI_H

#define SYS_LAB 500 /* lab(command, argument) */

/* sched_yield(2), then the flags register as the kernel itself has it after the switch: what the
 * task that ran meanwhile left there (mechanism `flags`). */
#define LAB_YIELD_FLAGS 0
/* Writes a struct lab_statistics to `argument`; 0 or -EFAULT. */
#define LAB_STATISTICS 1

/* Writes a struct lab_bkl to `argument`: the big kernel lock's counts, and empties them. */
#define LAB_BKL 2
/* Has the test device raise a softirq: `argument` is a struct lab_softirq_arm; 0,
 * -EFAULT, -EINVAL. */
#define LAB_SOFTIRQ_ARM 3
/* Takes what the rings of all CPUs hold of softirqs: `argument` is a struct lab_softirq_take, which
 * gets the records' number; the rest stays for the next call. 0, -EFAULT. */
#define LAB_SOFTIRQ_TAKE 4
/* Raises the softirq whose number is `argument` on this CPU, from a system call. 0, -EINVAL. */
#define LAB_SOFTIRQ_RAISE 5
/* Writes a struct lab_softirq_counts to `argument`: of TASKLET, as the test device and
 * LAB_SOFTIRQ_RAISE raise it. 0, -EFAULT. */
#define LAB_SOFTIRQ_COUNTS 6

/* Writes a struct lab_network to `argument`; 0, -EFAULT, or -ENODEV without a network card. */
#define LAB_NETWORK 7

/* A driver that is loaded (`argument` 1) and unloaded (0): all of LABDEV_CHURN() are registered, or
 * taken out again. 0; of unloading, how many of their calls were still at work as it was done. With
 * 2 only that number is given. -ENODEV without a table (`compat-ioctl=flag` and `entry`), where
 * nothing is registered, or under `test.ioctl-churn`; -EINVAL. */
#define LAB_COMMANDS 20

#define LAB_CPUS 8

/* Softirqs, in the order in which they run. */
#define LAB_HI 0
#define LAB_TIMER 1
#define LAB_NET_TX 2
#define LAB_NET_RX 3
#define LAB_TASKLET 4
#define LAB_SOFTIRQS 5

/* What a softirq's raise interrupted. */
#define LAB_IN_USER 0
#define LAB_IN_KERNEL 1
#define LAB_IN_IDLE 2

#ifndef __ASSEMBLER__
#include <stdint.h>

/* The big kernel lock, CPU by CPU. */
struct lab_bkl {
	struct {
		uint64_t acquired;  /* times taken */
		uint64_t contended; /* of these, times that somebody else had it first */
		uint64_t spins;     /* looks at it while it was taken */
		uint64_t waited;    /* TSC ticks between finding it taken and having it */
	} cpu[LAB_CPUS];
};

/* The test device: an interrupt `delay` ticks of the TSC from now, whose handler raises
 * a softirq. */
struct lab_softirq_arm {
	uint64_t delay;
	uint32_t softirq;
	uint32_t cpu;    /* that is interrupted */
	uint32_t source; /* 0: that CPU's own timer; 1: another CPU's interrupt, if there is one */
	uint32_t again;  /* HI only: how often its handler raises it again */
};

/* Softirqs that merge while they are pending, CPU by CPU. At rest runs == epochs, or one was lost
 * or run twice; and seen == raised, or one was raised after its last run. */
struct lab_softirq_counts {
	struct {
		uint64_t raised; /* raises */
		uint64_t epochs; /* of these, those that found it not pending */
		uint64_t runs;   /* of the handler */
		uint64_t seen;   /* `raised` as the last run saw it */
	} cpu[LAB_CPUS];
};

/* One run of a softirq. */
struct lab_softirq_record {
	uint64_t raised, entered; /* TSC: at the (first) raise, and as its handler is called */
	uint32_t softirq;
	uint16_t cpu;
	uint16_t context; /* LAB_IN_*: what the raise interrupted */
};

struct lab_softirq_take {
	uint64_t records;  /* address of an array of struct lab_softirq_record */
	uint32_t capacity; /* its length */
	uint32_t count;    /* set: how many were written */
	uint64_t lost;     /* set: how many a full ring dropped since the last call */
};

_Static_assert(sizeof(struct lab_bkl) == 256 && sizeof(struct lab_softirq_arm) == 24, "ABI");
_Static_assert(sizeof(struct lab_softirq_counts) == 256, "ABI");
_Static_assert(sizeof(struct lab_softirq_record) == 24 && sizeof(struct lab_softirq_take) == 24,
	       "ABI");

/* What came of the frames that the network card received. */
struct lab_network {
	uint64_t arp_answers, echoes; /* answered */
	uint64_t malformed, ignored;
	uint64_t no_room; /* not looked at: too many answers wait to be sent */
	uint64_t sent;    /* answers that the card is done with */
	uint64_t interrupts;
};

/* What must be the same before and after: counts of what lives in the kernel. */
struct lab_statistics {
	uint64_t tasks;      /* user and kernel threads; zombies too */
	uint64_t free_pages;
	uint64_t objects;    /* kmalloc's */
	uint64_t files;      /* open files, however many descriptors they have */
};

_Static_assert(sizeof(struct lab_statistics) == 32 && sizeof(struct lab_network) == 56, "ABI");
#endif

#endif

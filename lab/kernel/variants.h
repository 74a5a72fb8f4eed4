/*
 * Boot-time variants: which of a mechanism's forms this boot uses, by `name=value` on the kernel's
 * command line. A wrong name or value stops the boot with the list of valid ones.
 *
 * variants.c has the table of all and reads the command line. Each mechanism's own file checks and
 * applies what was chosen; main.c calls it before any program runs.
 */
#ifndef LAB_VARIANTS_H
#define LAB_VARIANTS_H

#include "types.h"

enum iobitmap_variant { IOBITMAP_SHORT, IOBITMAP_FULL_COPY, IOBITMAP_TRACKED, IOBITMAP_LAZY };
enum flags_variant { FLAGS_SAVE, FLAGS_CONSTANT, FLAGS_IOPL_ONLY, FLAGS_ENTRY_CLEAN };
enum irq_restore_variant { IRQ_RESTORE_POPF, IRQ_RESTORE_STI_IF };
enum getcpu_variant {
	GETCPU_SYSCALL, GETCPU_CPUID, GETCPU_LSL, GETCPU_RDTSCP, GETCPU_RDPID, GETCPU_SGDT,
	GETCPU_SIDT, GETCPU_SLDT,
};
enum softirq_variant {
	SOFTIRQ_SYSCALL_RETURN, SOFTIRQ_IRQ_ONCE, SOFTIRQ_IRQ_RETURN, SOFTIRQ_IRQ_EXIT,
	SOFTIRQ_THREAD,
};
enum idle_variant { IDLE_HLT, IDLE_POLL };
enum idle_check_variant { IDLE_CHECK_OFF, IDLE_CHECK_ON, IDLE_CHECK_EARLY };
enum ioctl_variant { IOCTL_BKL, IOCTL_UNLOCKED };
enum compat_ioctl_variant {
	COMPAT_IOCTL_HASH_BKL, COMPAT_IOCTL_HASH_UNLOCKED, COMPAT_IOCTL_HASH_BARE,
	COMPAT_IOCTL_FLAG, COMPAT_IOCTL_ENTRY,
};

/* What was chosen; the defaults are the best of today. */
struct variants {
	u32 iobitmap;     /* lazy */
	u32 flags;        /* entry-clean */
	u32 irq_restore;  /* sti-if */
	u32 getcpu;       /* lsl */
	u32 getcpu_cache; /* 0 off, 1 on */
	u32 getcpu_mode;  /* 0 off, 1 on */
	u32 umip;         /* 0 off, 1 on where the CPU has it */
	u32 smap;         /* the same */
	u32 node_bits;    /* low bits of the CPU number's encoding that hold the node: 0..8 */
	u32 softirq;      /* irq-exit */
	u32 idle;         /* hlt */
	u32 idle_check;   /* on */
	u32 tick_check;   /* 0 off, 1 on */
	/* CPUs to plan for, as NR_CPUS; at least those started; default MAX_CPUS. */
	u32 max_cpus;
	u32 ioctl;                   /* unlocked */
	u32 compat_ioctl;            /* entry */
	u32 compat_ioctl_handlers;   /* hash-*: commands registered in all */
	u32 compat_ioctl_collisions; /* further ones in the bucket of LABDEV_STATE, before it */
};
extern struct variants variants;

/* Reads the command line; stops the boot on what it does not know. Words that begin with `init=`,
 * `test.` or `virtio_mmio.device=` are kept for others. */
void variants_parse(const char *command_line);
/* The name of the variant that was chosen; `chosen` is the mechanism's field of `variants`. */
const char *variant_name(const u32 *chosen);
void variants_print(void);

#endif

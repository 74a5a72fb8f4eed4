/*
 * Which I/O ports a program may use: ioperm(2), iopl(2), and what a switch does about them.
 *
 * The CPU looks a port up in the TSS of the CPU it is: a clear bit allows it. Tasks have bitmaps of
 * their own, 8 KiB each, and there is one TSS a CPU, so between two tasks the TSS must be brought
 * up to date. The variant of `iobitmap` decides when and how much:
 *
 *   full-copy  Linux 2.6.8: the switch copies all of next's bitmap; without one it moves the base
 *              beyond the TSS's limit, which denies all ports.
 *   tracked    Ingo Molnar's fix of August 2004: a bitmap knows its last byte that allows
 *              anything; the switch copies as far as prev's or next's goes, or sets prev's bytes to
 *              ones. The base stays valid.
 *   lazy       Linux since 5.5: the switch away from a bitmap moves the base away; the copy waits
 *              until a task with one returns to user mode, and is left out if the TSS still holds
 *              that very bitmap, by its sequence number.
 *
 * Where all three differ from their models: a bitmap is shared by fork and copied by the first
 * ioperm() after it, as Linux does today (2.6 copied 8 KiB at fork); one that allows nothing any
 * more is freed. iopl() is the CPU's IOPL, as in Linux before 5.5, since that is what the eflags
 * thread of 2006 is about. There are no capabilities here: every program may call both.
 *
 * Copies are `rep movsq`; 2.6.8 on i386 copied by `rep movsl`, twice the iterations for the same
 * bytes.
 *
 * Sources: Intel SDM volume 1, 19.5.2; Linux arch/x86/kernel/{ioport,process}.c. Why no switch can
 * come between the steps here, and why a stale bit can't be used: TRICKS.md, "I/O bitmaps".
 */
#include "../kernel/page.h"
#include "../kernel/variants.h"
#include "../kernel/syscall.h"
#include "../kernel/task.h"
#include "x86.h"
#include "cpu.h"
#include "patch.h"
#include "percpu.h"

#define WORD_BITS 64
#define WORDS (IO_BITMAP_BITS / WORD_BITS)

struct io_bitmap {
	u64 sequence;   /* another one after each change; never 0 */
	u32 references; /* tasks; more than one: copy before a change */
	/* Whole words up to the last one that allows a port; after it all is ones. */
	u32 bytes;
	u64 bits[WORDS];
};

static u64 last_sequence;

static void copy_words(void *to, const void *from, u64 bytes)
{
	u64 words = bytes / sizeof(u64);

	__asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words)::"memory");
}

static inline struct tss *tss(void)
{
	return &this_cpu()->tss;
}

static u32 bytes_of(const struct io_bitmap *bitmap)
{
	return bitmap ? bitmap->bytes : 0;
}

/* ---- What the switch does, if prev or next has a bitmap; interrupts are off. ---- */

static __attribute__((noinline)) void switch_full_copy(const struct io_bitmap *next)
{
	if (next) {
		copy_words(tss()->io_bitmap, next->bits, IO_BITMAP_BYTES);
		tss()->io_bitmap_base = TSS_IO_BITMAP_VALID;
	} else {
		tss()->io_bitmap_base = TSS_IO_BITMAP_INVALID;
	}
}

static void iobitmap_switch_full_copy(struct task *prev, struct task *next)
{
	switch_full_copy(next->io_bitmap);
}

static void iobitmap_switch_tracked(struct task *prev, struct task *next)
{
	const struct io_bitmap *from = prev->io_bitmap, *to = next->io_bitmap;

	if (to)
		copy_words(tss()->io_bitmap, to->bits, max(bytes_of(from), to->bytes));
	else
		memset(tss()->io_bitmap, 0xff, from->bytes);
}

/* The default, and the key of the static call. */
void iobitmap_switch(struct task *prev, struct task *next)
{
	if (prev->io_bitmap)
		tss()->io_bitmap_base = TSS_IO_BITMAP_INVALID;
	if (next->io_bitmap)
		__atomic_or_fetch(&next->work, WORK_IO_BITMAP, __ATOMIC_RELAXED);
}

/* In variant lazy, with WORK_IO_BITMAP set: makes the TSS this task's. */
void iobitmap_exit_to_user(void)
{
	struct percpu *cpu = this_cpu();
	const struct io_bitmap *bitmap = current->io_bitmap;

	__atomic_and_fetch(&current->work, ~WORK_IO_BITMAP, __ATOMIC_RELAXED);
	if (!bitmap) {
		cpu->tss.io_bitmap_base = TSS_IO_BITMAP_INVALID;
		return;
	}
	if (cpu->bitmap_sequence != bitmap->sequence) {
		copy_words(cpu->tss.io_bitmap, bitmap->bits, max(cpu->bitmap_bytes, bitmap->bytes));
		cpu->bitmap_bytes = bitmap->bytes;
		cpu->bitmap_sequence = bitmap->sequence;
	}
	cpu->tss.io_bitmap_base = TSS_IO_BITMAP_VALID;
}

/* ---- What a change of the current task's own bitmap does. ---- */

/* `old_bytes`: how far the TSS may hold clear bits of the bitmap as it was. Without a bitmap the
 * TSS must deny at once in every variant: the switch away from such a task leaves it alone. */
static void tss_update(u32 old_bytes)
{
	const struct io_bitmap *bitmap = current->io_bitmap;

	if (variants.iobitmap == IOBITMAP_FULL_COPY)
		switch_full_copy(bitmap);
	else if (variants.iobitmap == IOBITMAP_LAZY && bitmap)
		__atomic_or_fetch(&current->work, WORK_IO_BITMAP, __ATOMIC_RELAXED);
	else if (variants.iobitmap == IOBITMAP_LAZY)
		tss()->io_bitmap_base = TSS_IO_BITMAP_INVALID;
	else if (bitmap)
		copy_words(tss()->io_bitmap, bitmap->bits, max(old_bytes, bitmap->bytes));
	else
		memset(tss()->io_bitmap, 0xff, old_bytes);
}

static void put_bitmap(struct io_bitmap *bitmap)
{
	if (bitmap && __atomic_sub_fetch(&bitmap->references, 1, __ATOMIC_ACQ_REL) == 0)
		kfree(bitmap);
}

/* The current task's bitmap, such that nobody else has it; NULL without memory. */
static struct io_bitmap *own_bitmap(void)
{
	struct io_bitmap *old = current->io_bitmap, *own;

	/* Only the current task could share its own with more, so 1 stays 1. */
	if (old && __atomic_load_n(&old->references, __ATOMIC_ACQUIRE) == 1)
		return old;
	own = kmalloc(sizeof(*own));
	if (!own)
		return NULL;
	own->references = 1;
	own->bytes = bytes_of(old);
	if (old)
		copy_words(own->bits, old->bits, IO_BITMAP_BYTES);
	else
		memset(own->bits, 0xff, IO_BITMAP_BYTES);
	current->io_bitmap = own;
	put_bitmap(old);
	return own;
}

static void set_ports(u64 *bits, u64 from, u64 count, bool allowed)
{
	u64 end = from + count;

	while (from < end) {
		u64 shift = from % WORD_BITS, length = min(WORD_BITS - shift, end - from);
		u64 mask = (length == WORD_BITS ? ~0ul : (1ul << length) - 1) << shift;
		u64 *word = &bits[from / WORD_BITS];

		*word = allowed ? *word & ~mask : *word | mask;
		from += length;
	}
}

static u32 bytes_in_use(const u64 *bits)
{
	u32 words = WORDS;

	while (words > 0 && bits[words - 1] == ~0ul)
		words--;
	return words * sizeof(u64);
}

i64 sys_ioperm(u64 from, u64 count, u64 on)
{
	struct io_bitmap *bitmap;
	u32 old_bytes = bytes_of(current->io_bitmap);
	bool allowed = (u32)on; /* an int in the C prototype */

	if (from + count <= from || from + count > IO_BITMAP_BITS)
		return -EINVAL;
	if (!allowed && !current->io_bitmap)
		return 0;
	bitmap = own_bitmap();
	if (!bitmap)
		return -ENOMEM;
	set_ports(bitmap->bits, from, count, allowed);
	bitmap->bytes = bytes_in_use(bitmap->bits);
	bitmap->sequence = __atomic_add_fetch(&last_sequence, 1, __ATOMIC_RELAXED);
	if (bitmap->bytes == 0) {
		current->io_bitmap = NULL;
		put_bitmap(bitmap);
	}
	tss_update(old_bytes);
	return 0;
}

/* The kernel's own IOPL: means nothing to the kernel, but variants of `flags` other than
 * entry-clean may carry it to user mode or compare it at the next switch. */
static void set_kernel_iopl(u64 iopl)
{
	u64 flags = (read_flags() & ~(u64)FLAG_IOPL) | iopl;

	__asm__ volatile("push %0; popfq" ::"r"(flags) : "memory", "cc");
}

i64 sys_iopl(u64 level)
{
	struct regs *regs = task_regs(current);
	u64 iopl = (u64)(u32)level << 12;

	if ((u32)level > 3)
		return -EINVAL;
	regs->rflags = (regs->rflags & ~(u64)FLAG_IOPL) | iopl;
	current->eflags = iopl | FLAG_ONE;
	if (variants.flags != FLAGS_ENTRY_CLEAN)
		set_kernel_iopl(iopl);
	return 0;
}

/* ---- Tasks and CPUs that come and go. ---- */

int iobitmap_fork(struct task *child, struct task *parent)
{
	child->io_bitmap = parent->io_bitmap;
	if (child->io_bitmap)
		__atomic_add_fetch(&child->io_bitmap->references, 1, __ATOMIC_RELAXED);
	return 0;
}

void iobitmap_drop(struct task *task)
{
	struct io_bitmap *bitmap = task->io_bitmap;

	task->eflags = FLAG_ONE;
	if (task == current && variants.flags != FLAGS_ENTRY_CLEAN)
		set_kernel_iopl(0);
	if (!bitmap)
		return;
	task->io_bitmap = NULL;
	/* Of a task that never ran, as after a fork that failed, the TSS holds nothing. */
	if (task == current)
		tss_update(bitmap->bytes);
	put_bitmap(bitmap);
}

void iobitmap_init_cpu(struct percpu *cpu)
{
	memset(cpu->tss.io_bitmap, 0xff, sizeof(cpu->tss.io_bitmap));
	cpu->tss.io_bitmap_base = variants.iobitmap == IOBITMAP_TRACKED ? TSS_IO_BITMAP_VALID
									: TSS_IO_BITMAP_INVALID;
}

void iobitmap_apply_variant(void)
{
	static void (*const functions[])(struct task *, struct task *) = {
		[IOBITMAP_FULL_COPY] = iobitmap_switch_full_copy,
		[IOBITMAP_TRACKED] = iobitmap_switch_tracked,
		[IOBITMAP_LAZY] = iobitmap_switch,
	};

	static_call_patch(iobitmap_switch, functions[variants.iobitmap]);
	iobitmap_init_cpu(this_cpu());
}

/*
 * Which I/O ports a program may use: ioperm(2), iopl(2), and what a switch does about them.
 *
 * The CPU looks a port up in the TSS of the CPU it is: a clear bit allows it. Tasks have bitmaps of
 * their own, and there is one TSS a CPU, so between two tasks the TSS must be brought up to date.
 * The variant of `iobitmap` decides how long a bitmap is, and when how much of it is copied:
 *
 *   short      Linux before 2.6.8: 1,024 ports, 128 bytes, all copied by the switch; a program that
 *              asks for a higher port gets -EINVAL.
 *   full-copy  Linux 2.6.8: the same with all 65,536 ports, 8 KiB. If only prev had a bitmap, the
 *              switch moves the base beyond the TSS's limit, which denies all ports.
 *   tracked    Ingo Molnar's fix of August 2004: a bitmap knows its last byte that allows
 *              anything; the switch copies as far as prev's or next's goes, or sets prev's bytes to
 *              ones. The base stays valid. ioperm(2) looks for that byte through all the bitmap.
 *   lazy       Linux since 5.5: the switch away from a bitmap moves the base away; the copy waits
 *              until a task with one returns to user mode, and is left out if the TSS still holds
 *              that very bitmap, by its sequence number. ioperm(2) looks as tracked's does.
 *
 * fork(2) copies the bitmap in the variants of 2004; in lazy both tasks share it, and the first
 * ioperm(2) after it copies. Different from the models: without a bitmap, to deny a port makes
 * none. iopl() is the CPU's IOPL, as in Linux before 5.5, since that is what the eflags thread of
 * 2006 is about. There are no capabilities here: every program may call both.
 *
 * Copies are `rep movsq`; 2.6.8 on i386 copied by `rep movsl`, twice the iterations for the same
 * bytes.
 *
 * Sources: Intel SDM volume 1, 19.5.2; Linux arch/x86/kernel/{ioport,process}.c; of 2004 the lines
 * that the fix's patch removes and adds. Why no switch can come between the steps here, and why a
 * stale bit can't be used: TRICKS.md, "I/O bitmaps".
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
#define SHORT_BITS 1024
#define SHORT_BYTES (SHORT_BITS / 8)

struct io_bitmap {
	u64 sequence;   /* lazy: another one after each change; never 0 */
	u32 references; /* lazy: tasks; more than one: copy before a change */
	/* tracked, lazy: whole words up to the last that allows a port; after it all is ones. */
	u32 bytes;
	u64 bits[]; /* bitmap_bytes() */
};

_Static_assert(offsetof(struct tss, io_bitmap) % sizeof(u64) == 0, "changed word by word");

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

/* Of every bitmap in this boot's variant. */
static u32 bitmap_bytes(void)
{
	return variants.iobitmap == IOBITMAP_SHORT ? SHORT_BYTES : IO_BITMAP_BYTES;
}

/* ---- What the switch does, if prev or next has a bitmap; interrupts are off. ---- */

static inline __attribute__((always_inline)) void switch_all(const struct io_bitmap *next,
								   u64 bytes)
{
	if (next) {
		copy_words(tss()->io_bitmap, next->bits, bytes);
		tss()->io_bitmap_base = TSS_IO_BITMAP_VALID;
	} else {
		tss()->io_bitmap_base = TSS_IO_BITMAP_INVALID;
	}
}

static void iobitmap_switch_short(struct task *prev, struct task *next)
{
	switch_all(next->io_bitmap, SHORT_BYTES);
}

static void iobitmap_switch_full_copy(struct task *prev, struct task *next)
{
	switch_all(next->io_bitmap, IO_BITMAP_BYTES);
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

/* The current task has no bitmap any more: the TSS must deny at once in every variant, since the
 * switch away from such a task leaves it alone. `bytes`: of the bitmap that it had. */
static void tss_deny(u32 bytes)
{
	if (variants.iobitmap == IOBITMAP_TRACKED)
		memset(tss()->io_bitmap, 0xff, bytes);
	else
		tss()->io_bitmap_base = TSS_IO_BITMAP_INVALID;
}

static void put_bitmap(struct io_bitmap *bitmap)
{
	if (bitmap && __atomic_sub_fetch(&bitmap->references, 1, __ATOMIC_ACQ_REL) == 0)
		kfree(bitmap);
}

/* A new one like `old`; without one, that denies all. NULL without memory. */
static struct io_bitmap *copy_of(const struct io_bitmap *old)
{
	struct io_bitmap *new = kmalloc(sizeof(*new) + bitmap_bytes());

	if (!new)
		return NULL;
	*new = (struct io_bitmap){ .references = 1, .bytes = bytes_of(old) };
	if (old)
		copy_words(new->bits, old->bits, bitmap_bytes());
	else
		memset(new->bits, 0xff, bitmap_bytes());
	return new;
}

/* The current task's bitmap, such that nobody else has it; NULL without memory. */
static struct io_bitmap *own_bitmap(void)
{
	struct io_bitmap *old = current->io_bitmap, *own;

	/* Only the current task could share its own with more, so 1 stays 1. */
	if (old && __atomic_load_n(&old->references, __ATOMIC_ACQUIRE) == 1)
		return old;
	own = copy_of(old);
	if (!own)
		return NULL;
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

/* All is read, from the first word on, as the fix did and Linux does. */
static u32 bytes_in_use(const u64 *bits)
{
	u32 used = 0;

	for (u32 word = 0; word < IO_BITMAP_BYTES / sizeof(u64); word++)
		if (bits[word] != ~0ul)
			used = word + 1;
	return used * sizeof(u64);
}

/* short, full-copy: the same change in the bitmap and in the TSS; if that does not hold the bitmap
 * yet, all of it. */
static i64 change_everywhere(u64 from, u64 count, bool allowed)
{
	struct io_bitmap *bitmap = own_bitmap();

	if (!bitmap)
		return -ENOMEM;
	set_ports(bitmap->bits, from, count, allowed);
	if (tss()->io_bitmap_base == TSS_IO_BITMAP_VALID)
		set_ports((u64 *)tss()->io_bitmap, from, count, allowed);
	else
		switch_all(bitmap, bitmap_bytes());
	return 0;
}

static i64 change_tracked(u64 from, u64 count, bool allowed)
{
	struct io_bitmap *bitmap = own_bitmap();
	u32 old_bytes;

	if (!bitmap)
		return -ENOMEM;
	set_ports(bitmap->bits, from, count, allowed);
	old_bytes = bitmap->bytes;
	bitmap->bytes = bytes_in_use(bitmap->bits);
	copy_words(tss()->io_bitmap, bitmap->bits, max(old_bytes, bitmap->bytes));
	return 0;
}

/* The default, and the key of the static call. A bitmap that allows nothing any more is freed. */
__attribute__((used)) static i64 iobitmap_change(u64 from, u64 count, bool allowed)
{
	struct io_bitmap *bitmap = own_bitmap();

	if (!bitmap)
		return -ENOMEM;
	set_ports(bitmap->bits, from, count, allowed);
	bitmap->bytes = bytes_in_use(bitmap->bits);
	if (bitmap->bytes == 0) {
		current->io_bitmap = NULL;
		put_bitmap(bitmap);
		tss_deny(0);
		return 0;
	}
	bitmap->sequence = __atomic_add_fetch(&last_sequence, 1, __ATOMIC_RELAXED);
	__atomic_or_fetch(&current->work, WORK_IO_BITMAP, __ATOMIC_RELAXED);
	return 0;
}

/* A program that needs more than 1,024 ports got the error of a range that is none. */
static i64 change_short(u64 from, u64 count, bool allowed)
{
	return from + count > SHORT_BITS ? -EINVAL : change_everywhere(from, count, allowed);
}

i64 sys_ioperm(u64 from, u64 count, u64 on)
{
	bool allowed = (u32)on; /* an int in the C prototype */

	if (from + count <= from || from + count > IO_BITMAP_BITS)
		return -EINVAL;
	if (!allowed && !current->io_bitmap)
		return from + count > bitmap_bytes() * 8 ? -EINVAL : 0;
	return static_call3(iobitmap_change, from, count, allowed);
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
	if (!child->io_bitmap)
		return 0;
	if (variants.iobitmap != IOBITMAP_LAZY)
		child->io_bitmap = copy_of(parent->io_bitmap);
	else
		__atomic_add_fetch(&child->io_bitmap->references, 1, __ATOMIC_RELAXED);
	return child->io_bitmap ? 0 : -ENOMEM;
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
		tss_deny(bitmap->bytes);
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
	static const struct {
		void (*on_switch)(struct task *, struct task *);
		i64 (*on_change)(u64 from, u64 count, bool allowed);
	} variant[] = {
		[IOBITMAP_SHORT] = { iobitmap_switch_short, change_short },
		[IOBITMAP_FULL_COPY] = { iobitmap_switch_full_copy, change_everywhere },
		[IOBITMAP_TRACKED] = { iobitmap_switch_tracked, change_tracked },
		[IOBITMAP_LAZY] = { iobitmap_switch, iobitmap_change },
	};

	static_call_patch(iobitmap_switch, variant[variants.iobitmap].on_switch);
	static_call_patch(iobitmap_change, variant[variants.iobitmap].on_change);
	iobitmap_init_cpu(this_cpu());
}

/*
 * ioctl(2) with the mechanisms `ioctl` and `compat-ioctl`; see ioctl.h.
 *
 * Each way is a function of file, command and argument; sys_ioctl() and compat_ioctl() call the one
 * that was chosen. Of the table of commands, writers are kept apart by a lock; readers take the big
 * kernel lock or none. TRICKS.md, "Lookups without a lock".
 *
 * Sources: Linux 2.6.8 fs/compat.c, compat_sys_ioctl() (the table, its hash, where the lock is
 * taken and released), fs/ioctl.c, sys_ioctl() (the lock around the native call); 2.6.11 fs/ioctl.c
 * (entries in the file operations); the mailing-list thread of September 2004. The sources are from
 * memory, not read again.
 */
#include "ioctl.h"
#include "../uapi/labdev.h"
#include "../x86/patch.h"
#include "bkl.h"
#include "grace.h"
#include "page.h"
#include "variants.h"
#include "printk.h"
#include "syscall.h"
#include "syscalls.h"

/* ---- The native call. ---- */

static i64 call(ioctl_handler handler, struct file *file, u32 command, u64 argument)
{
	return likely(handler) ? handler(file, command, argument) : -ENOTTY;
}

/* The key of native calls. */
__attribute__((used)) static i64 native_unlocked(struct file *file, u32 command, u64 argument)
{
	return call(file->operations->ioctl, file, command, argument);
}

static i64 native_bkl(struct file *file, u32 command, u64 argument)
{
	i64 result;

	bkl_lock();
	result = native_unlocked(file, command, argument);
	bkl_unlock();
	return result;
}

/* ---- compat-ioctl=flag: one function of the driver for both. ---- */

static i64 call_told(struct file *file, u32 command, u64 argument, bool compat)
{
	if (unlikely(!file->operations->told_ioctl))
		return -ENOTTY;
	return file->operations->told_ioctl(file, command, argument, compat);
}

static i64 call_told_bkl(struct file *file, u32 command, u64 argument, bool compat)
{
	i64 result;

	bkl_lock();
	result = call_told(file, command, argument, compat);
	bkl_unlock();
	return result;
}

static i64 native_told(struct file *file, u32 command, u64 argument)
{
	return call_told(file, command, argument, false);
}

static i64 native_told_bkl(struct file *file, u32 command, u64 argument)
{
	return call_told_bkl(file, command, argument, false);
}

static i64 compat_told(struct file *file, u32 command, u64 argument)
{
	return call_told(file, command, argument, true);
}

static i64 compat_told_bkl(struct file *file, u32 command, u64 argument)
{
	return call_told_bkl(file, command, argument, true);
}

/* ---- compat-ioctl=entry: the key of 32-bit programs' calls. ---- */

__attribute__((used)) static i64 compat_entry(struct file *file, u32 command, u64 argument)
{
	return call(file->operations->compat_ioctl, file, command, argument);
}

/* ---- compat-ioctl=hash-*: the global table. ---- */

#define BUCKETS 256
#define POISON 0x6c61626672656564ul /* not canonical: an access faults */

struct translation {
	struct translation *next;
	ioctl_handler handler; /* or SAME_LAYOUT */
	u32 command;
};

static struct translation *buckets[BUCKETS];
static struct spinlock table_lock; /* plain: writers */

/* As in 2.6.8. Direction and size do not count. */
static inline u32 bucket_of(u32 command)
{
	return (command ^ command >> 4 ^ command >> 6) % BUCKETS;
}

static inline const struct translation *find(u32 command)
{
	const struct translation *t = READ_ONCE(buckets[bucket_of(command)]);

	while (t && t->command != command)
		t = READ_ONCE(t->next);
	return t;
}

static i64 compat_hash_unlocked(struct file *file, u32 command, u64 argument)
{
	const struct translation *t = find(command);

	if (unlikely(!t))
		return -ENOTTY;
	if (t->handler == SAME_LAYOUT)
		return ioctl_native(file, command, argument);
	return t->handler(file, command, argument);
}

static i64 compat_hash_bkl(struct file *file, u32 command, u64 argument)
{
	const struct translation *t;
	i64 result;

	bkl_lock();
	t = find(command);
	if (t && t->handler != SAME_LAYOUT) {
		result = t->handler(file, command, argument);
		bkl_unlock();
		return result;
	}
	bkl_unlock();
	return likely(t) ? ioctl_native(file, command, argument) : -ENOTTY;
}

bool ioctl_table_is_used(void)
{
	return variants.compat_ioctl <= COMPAT_IOCTL_HASH_BARE;
}

/* Against other writers, and against readers where they take the big kernel lock. */
static void lock_table(void)
{
	if (variants.compat_ioctl == COMPAT_IOCTL_HASH_BKL)
		bkl_lock();
	spin_lock(&table_lock);
}

static void unlock_table(void)
{
	spin_unlock(&table_lock);
	if (variants.compat_ioctl == COMPAT_IOCTL_HASH_BKL)
		bkl_unlock();
}

i64 compat_ioctl_register(u32 command, ioctl_handler handler, const char *owner)
{
	struct translation **head = &buckets[bucket_of(command)];
	struct translation *new;
	bool taken;

	if (!ioctl_table_is_used())
		return 0;
	new = kmalloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	lock_table();
	taken = find(command);
	*new = (struct translation){ *head, handler, command };
	if (!taken)
		__atomic_store_n(head, new, __ATOMIC_RELEASE); /* whole before it is seen */
	unlock_table();
	if (!taken)
		return 0;
	kfree(new);
	printk("lab: ioctl 0x%08x is registered already: not for 32-bit programs of %s (-EBUSY)\n",
	       command, owner);
	return -EBUSY;
}

/* With the table locked: returns what was taken out, its own `next` left for readers; or NULL. */
static struct translation *take_out(u32 command)
{
	struct translation **place = &buckets[bucket_of(command)], *t;

	while ((t = *place) && t->command != command)
		place = &t->next;
	if (t)
		WRITE_ONCE(*place, t->next);
	return t;
}

i64 compat_ioctl_unregister(u32 command)
{
	struct translation *t;

	if (!ioctl_table_is_used())
		return 0;
	lock_table();
	t = take_out(command);
	unlock_table();
	if (!t)
		return -ENOENT;
	if (variants.compat_ioctl == COMPAT_IOCTL_HASH_UNLOCKED)
		grace_wait();
	*t = (struct translation){ (void *)POISON, (ioctl_handler)POISON, 0 };
	kfree(t);
	return 0;
}

/* ---- The system calls. ---- */

i64 ioctl_native(struct file *file, u32 command, u64 argument)
{
	return static_call3(native_unlocked, file, command, argument);
}

static i64 compat_call(struct file *file, u32 command, u64 argument)
{
	return static_call3(compat_entry, file, command, argument);
}

/* Of a table of descriptors that threads share, or without such a descriptor. */
static __attribute__((noinline)) i64 with_reference(ioctl_handler call, u32 fd, u32 command,
						    u64 argument)
{
	struct file *file = file_get(fd);
	i64 result;

	if (!file)
		return -EBADF;
	result = call(file, command, argument);
	file_put(file);
	return result;
}

i64 sys_ioctl(u64 fd, u64 command, u64 argument)
{
	struct file *file = file_peek(fd);

	if (unlikely(!file))
		return with_reference(ioctl_native, fd, command, argument);
	return static_call3(native_unlocked, file, command, argument);
}

i64 compat_ioctl(u64 fd, u64 command, u64 argument)
{
	struct file *file = file_peek(fd);

	if (unlikely(!file))
		return with_reference(compat_call, fd, command, argument);
	return static_call3(compat_entry, file, command, argument);
}

/* ---- At boot. ---- */

/* Numbers as drivers have them, 32 to a type, with types that the lab's own do not have. */
static u32 foreign_command(u32 n)
{
	u32 direction = 1 + n % 3, size = 4 * (1 + n % 16), type = 0x80 + n / 32;

	return direction << 30 | size << 16 | type << 8 | n % 32;
}

static void register_foreign(u32 command)
{
	if (compat_ioctl_register(command, SAME_LAYOUT, "another driver") < 0)
		panic("command 0x%x can't be registered", command);
}

static u32 registered_count(void)
{
	u32 count = 0;

	for (u32 i = 0; i < BUCKETS; i++)
		for (const struct translation *t = buckets[i]; t; t = t->next)
			count++;
	return count;
}

static void fill_table(void)
{
	u32 own = registered_count();

	for (u32 n = 0; own + n < variants.compat_ioctl_handlers; n++)
		register_foreign(foreign_command(n));
	for (u32 n = 0; n < variants.compat_ioctl_collisions; n++)
		register_foreign(LABDEV_COLLISION(n));
}

void ioctl_apply_variant(void)
{
	bool told = variants.compat_ioctl == COMPAT_IOCTL_FLAG;
	const ioctl_handler native[][2] = {
		[IOCTL_BKL] = { native_bkl, native_told_bkl },
		[IOCTL_UNLOCKED] = { native_unlocked, native_told },
	};
	const ioctl_handler compat[] = {
		[COMPAT_IOCTL_HASH_BKL] = compat_hash_bkl,
		[COMPAT_IOCTL_HASH_UNLOCKED] = compat_hash_unlocked,
		[COMPAT_IOCTL_HASH_BARE] = compat_hash_unlocked,
		[COMPAT_IOCTL_FLAG] = variants.ioctl == IOCTL_BKL ? compat_told_bkl : compat_told,
		[COMPAT_IOCTL_ENTRY] = compat_entry,
	};

	static_call_patch(native_unlocked, native[variants.ioctl][told]);
	static_call_patch(compat_entry, compat[variants.compat_ioctl]);
	if (variants.ioctl == IOCTL_BKL || variants.compat_ioctl == COMPAT_IOCTL_HASH_BKL)
		static_call_patch(schedule_plain, schedule_bkl);
	if (ioctl_table_is_used())
		fill_table();
}

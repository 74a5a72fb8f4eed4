/*
 * /dev/labdev and /dev/labdev1: a driver whose ioctl does what most do. It checks the number, then
 * how the file was opened, takes the device's semaphore, copies a structure in or out.
 *
 * Numbers are checked first, so that a wrong one is -ENOTTY under every variant of `compat-ioctl`,
 * also where the table of registered commands decides. The rule about the open mode is that of the
 * driver in the thread of 2004: commands without direction are administration, and need the file
 * open for writing; the others need it open for reading. Its error was -EPERM; here it is -EBADF,
 * which is what Linux returns for a descriptor open in the wrong mode (read(2), write(2), and by
 * ioctl FICLONE).
 *
 * The two devices share no state, so that two tasks, each on its own, share only what the variants
 * of `ioctl` and `compat-ioctl` make them share. An open file's data is its device.
 */
#include "labdev.h"
#include "../uapi/labdev.h"
#include "../x86/usercopy.h"
#include "ioctl.h"
#include "mutex.h"
#include "printk.h"
#include "syscall.h"

/* After the pointer the two layouts are one. */
#define COMMON_SIZE (sizeof(struct labdev_params) - offsetof(struct labdev_params, rate))
_Static_assert(COMMON_SIZE ==
	       sizeof(struct labdev_params32) - offsetof(struct labdev_params32, rate),
	       "uapi/labdev.h");

/* In cache lines of its own. */
struct labdev {
	struct mutex semaphore;
	struct labdev_params params;
	u32 wakes;                  /* LABDEV_WAKEs so far */
	struct wait_queue sleepers; /* LABDEV_WAIT */
} __attribute__((aligned(64)));

#define LABDEV(name)                                                                               \
	struct labdev name = {                                                                     \
		.semaphore = MUTEX_INIT(name.semaphore),                                           \
		.params = { .rate = 48000, .channels = 2 },                                        \
		.sleepers = WAIT_QUEUE_INIT(name.sleepers),                                        \
	}

LABDEV(labdev_0);
LABDEV(labdev_1);

/* ---- What the commands do. ---- */

static inline void count_serial(struct labdev *device)
{
	/* Or gcc adds in memory, and loads the sum. */
	u32 next = READ_ONCE(device->params.serial) + 1;

	device->params.serial = next ? next : 1;
}

static i64 give_params(struct labdev *device, u64 to)
{
	i64 result = mutex_lock(&device->semaphore);

	if (unlikely(result))
		return result;
	count_serial(device);
	if (unlikely(copy_to_user(to, &device->params, sizeof(device->params))))
		result = -EFAULT;
	mutex_unlock(&device->semaphore);
	return result;
}

static i64 give_state(struct labdev *device, u64 to)
{
	i64 result = mutex_lock(&device->semaphore);
	struct labdev_state state;

	if (unlikely(result))
		return result;
	count_serial(device);
	state = (struct labdev_state){ device->params.rate, device->params.serial };
	if (unlikely(copy_to_user(to, &state, sizeof(state))))
		result = -EFAULT;
	mutex_unlock(&device->semaphore);
	return result;
}

/* A buffer above 4 GiB, which a 64-bit program set, loses its upper half, as by compat_ptr(). */
static i64 give_params32(struct labdev *device, u64 to)
{
	const struct labdev_params *params = &device->params;
	i64 result = mutex_lock(&device->semaphore);
	struct labdev_params32 narrow;

	if (unlikely(result))
		return result;
	count_serial(device);
	narrow.buffer = params->buffer;
	__builtin_memcpy(&narrow.rate, &params->rate, COMMON_SIZE);
	if (unlikely(copy_to_user(to, &narrow, sizeof(narrow))))
		result = -EFAULT;
	mutex_unlock(&device->semaphore);
	return result;
}

/* All but the serial. */
static i64 set(struct labdev *device, u64 buffer, u32 rate, u32 channels, u32 flags)
{
	i64 result = mutex_lock(&device->semaphore);

	if (result)
		return result;
	device->params.buffer = buffer;
	device->params.rate = rate;
	device->params.channels = channels;
	device->params.flags = flags;
	mutex_unlock(&device->semaphore);
	return 0;
}

static i64 take_params(struct labdev *device, u64 from)
{
	struct labdev_params new;

	if (copy_from_user(&new, from, sizeof(new)))
		return -EFAULT;
	return set(device, new.buffer, new.rate, new.channels, new.flags);
}

static i64 take_params32(struct labdev *device, u64 from)
{
	struct labdev_params32 new;

	if (copy_from_user(&new, from, sizeof(new)))
		return -EFAULT;
	return set(device, new.buffer, new.rate, new.channels, new.flags);
}

/* Sleeps without the semaphore, or nobody could wake it. */
static i64 wait(struct labdev *device, u64 unused)
{
	u32 seen = READ_ONCE(device->wakes);

	wait_prepare(&device->sleepers);
	while (READ_ONCE(device->wakes) == seen && !signal_pending()) {
		schedule();
		wait_prepare(&device->sleepers);
	}
	wait_finish(&device->sleepers);
	return READ_ONCE(device->wakes) == seen ? -EINTR : 0;
}

static i64 wake(struct labdev *device, u64 unused)
{
	i64 result = mutex_lock(&device->semaphore);

	if (result)
		return result;
	WRITE_ONCE(device->wakes, device->wakes + 1);
	wake_up_all(&device->sleepers);
	mutex_unlock(&device->semaphore);
	return 0;
}

/* There is nothing to see: what counts is the time. */
static i64 poll(struct labdev *device, u64 looks)
{
	i64 result;

	if (looks > LABDEV_MOST_LOOKS)
		return -EINVAL;
	result = mutex_lock(&device->semaphore);
	if (result)
		return result;
	while (looks--)
		cpu_pause();
	mutex_unlock(&device->semaphore);
	return 0;
}

/* ---- From the number to the command. ---- */

struct command {
	u32 number;
	u32 forbidden; /* O_RDONLY or O_WRONLY: how the file must not be open */
	i64 (*run)(struct labdev *device, u64 argument);
};

#define COMMANDS 6
#define COMMAND(number, run)                                                                       \
	{ number, (number) >> 30 == LABDEV_NONE ? O_RDONLY : O_WRONLY, run }

/* By the number's lowest byte, less one. */
static const struct command native[COMMANDS] = {
	COMMAND(LABDEV_PARAMS, give_params),
	COMMAND(LABDEV_SET, take_params),
	COMMAND(LABDEV_WAIT, wait),
	COMMAND(LABDEV_WAKE, wake),
	COMMAND(LABDEV_POLL, poll),
	COMMAND(LABDEV_STATE, give_state),
};
static const struct command compat[COMMANDS] = {
	COMMAND(LABDEV_PARAMS32, give_params32),
	COMMAND(LABDEV_SET32, take_params32),
	COMMAND(LABDEV_WAIT, wait),
	COMMAND(LABDEV_WAKE, wake),
	COMMAND(LABDEV_POLL, poll),
	COMMAND(LABDEV_STATE, give_state),
};

static inline i64 dispatch(const struct command *table, struct file *file, u32 number, u64 argument)
{
	u32 index = (number & 0xff) - 1;

	if (unlikely(index >= COMMANDS || table[index].number != number))
		return -ENOTTY;
	if (unlikely((file->flags & O_ACCMODE) == table[index].forbidden))
		return -EBADF;
	return table[index].run(file->data, argument);
}

static i64 labdev_ioctl(struct file *file, u32 command, u64 argument)
{
	return dispatch(native, file, command, argument);
}

static i64 labdev_compat_ioctl(struct file *file, u32 command, u64 argument)
{
	return dispatch(compat, file, command, argument);
}

static i64 labdev_told_ioctl(struct file *file, u32 command, u64 argument, bool is_compat)
{
	return dispatch(is_compat ? compat : native, file, command, argument);
}

const struct file_operations labdev_operations = {
	.ioctl = labdev_ioctl,
	.compat_ioctl = labdev_compat_ioctl,
	.told_ioctl = labdev_told_ioctl,
};

/* compat-ioctl=hash-*: the table knows numbers, not files. */
static i64 labdev_registered_ioctl(struct file *file, u32 command, u64 argument)
{
	if (unlikely(file->operations != &labdev_operations))
		return ioctl_native(file, command, argument);
	return dispatch(compat, file, command, argument);
}

void labdev_init(void)
{
	for (u32 i = 0; i < COMMANDS; i++) {
		bool same = compat[i].number == native[i].number;

		compat_ioctl_register(compat[i].number,
				      same ? SAME_LAYOUT : labdev_registered_ioctl, "labdev");
	}
}

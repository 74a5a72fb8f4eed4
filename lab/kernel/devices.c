/*
 * Character devices, by Linux's numbers (Documentation/admin-guide/devices.txt): null, zero,
 * urandom and the console; and, by numbers that Linux leaves for local use, those of uapi/labdev.h.
 * Others can have names in the tree, but opening them is -ENXIO.
 */
#include "../uapi/labdev.h"
#include "../x86/usercopy.h"
#include "file.h"
#include "ioctl.h"
#include "labdev.h"
#include "page.h"
#include "printk.h"
#include "random.h"
#include "syscall.h"

#define DEVICE(major, minor) ((major) << 8 | (minor))

static i64 null_read(struct file *file, u64 buffer, u64 count, u64 *position)
{
	return 0;
}

static i64 null_write(struct file *file, u64 buffer, u64 count, u64 *position)
{
	return count;
}

static i64 zero_read(struct file *file, u64 buffer, u64 count, u64 *position)
{
	u64 done = count - clear_user(buffer, count);

	return done || !count ? (i64)done : -EFAULT;
}

static i64 urandom_read(struct file *file, u64 buffer, u64 count, u64 *position)
{
	u64 done = 0;

	while (done < count && !signal_pending()) {
		u64 bits = random_next(), part = min(count - done, sizeof(bits));
		u64 left = copy_to_user(buffer + done, &bits, part);

		done += part - left;
		if (left)
			break;
	}
	return done || !count ? (i64)done : -EFAULT;
}

static i64 urandom_write(struct file *file, u64 buffer, u64 count, u64 *position)
{
	u64 done = 0;

	while (done < count && !signal_pending()) {
		u64 bits = 0, part = min(count - done, sizeof(bits));

		if (copy_from_user(&bits, buffer + done, part))
			break;
		random_mix(bits);
		done += part;
	}
	return done || !count ? (i64)done : -EFAULT;
}

/* random(4) */
#define RNDADDENTROPY 0x40085203u
#define RNDRESEEDCRNG 0x5207u

struct random_pool {
	i32 entropy_bits, size; /* followed by `size` bytes */
};

static i64 urandom_ioctl(struct file *file, u32 command, u64 argument)
{
	struct random_pool pool;
	i64 result;

	if (command == RNDRESEEDCRNG)
		return 0;
	if (command != RNDADDENTROPY)
		return -EINVAL;
	if (copy_from_user(&pool, argument, sizeof(pool)))
		return -EFAULT;
	if (pool.entropy_bits < 0 || pool.size < 0)
		return -EINVAL;
	result = urandom_write(file, argument + sizeof(pool), pool.size, NULL);
	return min(result, 0);
}

/* For 32-bit programs the same. */
static i64 urandom_told_ioctl(struct file *file, u32 command, u64 argument, bool compat)
{
	return urandom_ioctl(file, command, argument);
}

/* Nobody types: reading is at the end at once. */
static i64 console_file_write(struct file *file, u64 buffer, u64 count, u64 *position)
{
	char text[256];
	u64 done = 0;

	while (done < count && !signal_pending()) {
		u64 part = min(count - done, sizeof(text));

		if (copy_from_user(text, buffer + done, part))
			break;
		console_write(text, part);
		done += part;
	}
	return done || !count ? (i64)done : -EFAULT;
}

static const struct file_operations null_operations = { .read = null_read, .write = null_write };
static const struct file_operations zero_operations = { .read = zero_read, .write = null_write };
static const struct file_operations console_operations = {
	.read = null_read,
	.write = console_file_write,
};
static const struct file_operations urandom_operations = {
	.read = urandom_read,
	.write = urandom_write,
	.ioctl = urandom_ioctl,
	.compat_ioctl = urandom_ioctl,
	.told_ioctl = urandom_told_ioctl,
};

static const struct device {
	const char *path;
	u32 device, mode;
	const struct file_operations *operations;
	void *data;
} devices[] = {
	{ "/dev/null", DEVICE(1, 3), 0666, &null_operations },
	{ "/dev/zero", DEVICE(1, 5), 0666, &zero_operations },
	{ "/dev/random", DEVICE(1, 8), 0666, &urandom_operations },
	{ "/dev/urandom", DEVICE(1, 9), 0666, &urandom_operations },
	{ "/dev/ttyS0", DEVICE(4, 64), 0600, &console_operations },
	{ "/dev/tty", DEVICE(5, 0), 0666, &console_operations },
	{ "/dev/console", DEVICE(5, 1), 0600, &console_operations },
	{ "/dev/labdev", DEVICE(LABDEV_MAJOR, 0), 0666, &labdev_operations, &labdev_0 },
	{ "/dev/labdev1", DEVICE(LABDEV_MAJOR, 1), 0666, &labdev_operations, &labdev_1 },
	{ "/dev/labtwin", DEVICE(LABTWIN_MAJOR, 0), 0666, &labtwin_operations },
};

const struct file_operations *device_operations(u32 number, void **data)
{
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		if (devices[i].device == number) {
			*data = devices[i].data;
			return devices[i].operations;
		}
	return NULL;
}

static void make(const char *path, enum node_kind kind, u32 mode, u32 device)
{
	i64 error;
	struct node *node = node_create(NULL, path, kind, mode, device, &error);

	if (!node)
		panic("%s can't be made: error %ld", path, -error);
	node_put(node);
}

void devices_init(void)
{
	make("/dev", NODE_FOLDER, 0755, 0);
	make("/sys", NODE_FOLDER, 0555, 0);
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		make(devices[i].path, NODE_DEVICE, devices[i].mode, devices[i].device);
	compat_ioctl_register(RNDADDENTROPY, SAME_LAYOUT, "urandom");
	compat_ioctl_register(RNDRESEEDCRNG, SAME_LAYOUT, "urandom");
	labdev_init();
	labtwin_init();
}

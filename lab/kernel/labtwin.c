/*
 * /dev/labtwin: a second driver, of somebody who chose the same number as /dev/labdev, which
 * nothing prevents ("Why use the global hash at all?", in the thread of 2004). It only has
 * LABDEV_PARAMS, with other values, and no lock since nothing changes.
 *
 * Where numbers are looked up in a global table its 32-bit programs get -ENOTTY.
 */
#include "../uapi/labdev.h"
#include "../x86/usercopy.h"
#include "ioctl.h"
#include "labdev.h"
#include "printk.h"
#include "syscall.h"

static i64 labtwin_ioctl(struct file *file, u32 command, u64 argument)
{
	static const struct labdev_params params = {
		.rate = LABTWIN_RATE, .channels = 1, .serial = 1
	};

	if (command != LABDEV_PARAMS)
		return -ENOTTY;
	return copy_to_user(argument, &params, sizeof(params)) ? -EFAULT : 0;
}

static i64 labtwin_compat_ioctl(struct file *file, u32 command, u64 argument)
{
	static const struct labdev_params32 params = {
		.rate = LABTWIN_RATE, .channels = 1, .serial = 1,
	};

	if (command != LABDEV_PARAMS32)
		return -ENOTTY;
	return copy_to_user(argument, &params, sizeof(params)) ? -EFAULT : 0;
}

static i64 labtwin_told_ioctl(struct file *file, u32 command, u64 argument, bool compat)
{
	return compat ? labtwin_compat_ioctl(file, command, argument)
		      : labtwin_ioctl(file, command, argument);
}

const struct file_operations labtwin_operations = {
	.ioctl = labtwin_ioctl,
	.compat_ioctl = labtwin_compat_ioctl,
	.told_ioctl = labtwin_told_ioctl,
};

static i64 labtwin_registered_ioctl(struct file *file, u32 command, u64 argument)
{
	if (file->operations != &labtwin_operations)
		return ioctl_native(file, command, argument);
	return labtwin_compat_ioctl(file, command, argument);
}

void labtwin_init(void)
{
	compat_ioctl_register(LABDEV_PARAMS32, labtwin_registered_ioctl, "labtwin");
}

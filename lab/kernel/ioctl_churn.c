/*
 * `test.ioctl-churn` on the command line: a kernel thread registers and unregisters commands in the
 * test device's bucket, for ever, as drivers that are loaded and unloaded would. Programs see it by
 * LABDEV_CHURN, which is there or is not.
 */
#include "../uapi/labdev.h"
#include "../x86/x86.h"
#include "ioctl.h"
#include "page.h"
#include "printk.h"
#include "sched.h"

#define COMMANDS 8
#define PAUSE_NS 20000

static i64 churn_ioctl(struct file *file, u32 command, u64 argument)
{
	return LABDEV_CHURN_ANSWER;
}

static void nap(void)
{
	sleep_until(read_tsc() + ns_to_tsc(PAUSE_NS));
}

static void churn(void *unused)
{
	for (;;) {
		for (u32 n = 0; n < COMMANDS; n++)
			compat_ioctl_register(LABDEV_CHURN(n), churn_ioctl, "the churner");
		nap();
		for (u32 n = 0; n < COMMANDS; n++)
			compat_ioctl_unregister(LABDEV_CHURN(n * 3 % COMMANDS));
		nap();
	}
}

static bool asked_for(void)
{
	static const char name[] = "test.ioctl-churn";

	for (const char *at = boot_info.command_line; *at; at++)
		if (strncmp(at, name, sizeof(name) - 1) == 0)
			return true;
	return false;
}

void ioctl_start_churn(void)
{
	struct task *task = asked_for() ? task_create_kernel("churn", churn, NULL) : NULL;

	if (task)
		sched_add_new(task);
}

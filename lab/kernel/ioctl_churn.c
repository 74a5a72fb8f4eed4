/*
 * A driver that comes and goes: a kernel thread registers and unregisters LABDEV_CHURN() in the
 * test device's bucket. By `test.ioctl-churn` on the command line for ever, as fast as it can; else
 * when LAB_COMMANDS asks for it, which can also tell whether a call was still in the driver's code
 * as its unloading was done. On Linux that code would be gone.
 *
 * It must be a thread, of the highest priority and of one CPU: whoever unregisters may have to wait
 * until each CPU has switched to it (grace.h).
 */
#include "../uapi/lab.h"
#include "../uapi/labdev.h"
#include "../x86/x86.h"
#include "ioctl.h"
#include "mutex.h"
#include "page.h"
#include "printk.h"
#include "syscall.h"

#define PAUSE_NS 20000
#define PRIORITY_HIGHEST 99

static u32 at_work; /* calls that are in churn_ioctl() */

/* LAB_COMMANDS: one request at a time. */
static struct mutex asking = MUTEX_INIT(asking);
static struct wait_queue queue = WAIT_QUEUE_INIT(queue); /* the thread, who asks, who sleeps */
static struct {
	bool is_served; /* there is a thread for it */
	bool is_open;   /* asked, not yet done */
	bool is_loaded;
	u64 what;
	u32 still_at_work;
} request;

static void nap(void)
{
	sleep_until(read_tsc() + ns_to_tsc(PAUSE_NS));
}

/* In the driver until it is not loaded any more. */
static void sleep_while_loaded(void)
{
	wait_prepare(&queue);
	while (READ_ONCE(request.is_loaded) && !signal_pending()) {
		schedule();
		wait_prepare(&queue);
	}
	wait_finish(&queue);
}

static i64 churn_ioctl(struct file *file, u32 command, u64 argument)
{
	__atomic_add_fetch(&at_work, 1, __ATOMIC_SEQ_CST);
	if (argument > LABDEV_MOST_LOOKS)
		sleep_while_loaded();
	else
		while (argument--)
			cpu_pause();
	__atomic_sub_fetch(&at_work, 1, __ATOMIC_SEQ_CST);
	return LABDEV_CHURN_ANSWER;
}

static void load(void)
{
	for (u32 n = 0; n < LABDEV_CHURNS; n++)
		compat_ioctl_register(LABDEV_CHURN(n), churn_ioctl, "the churner");
}

/* In another order than they came. */
static void unload(void)
{
	for (u32 n = 0; n < LABDEV_CHURNS; n++)
		compat_ioctl_unregister(LABDEV_CHURN(n * 3 % LABDEV_CHURNS));
}

static void churn(void *unused)
{
	for (;;) {
		load();
		nap();
		unload();
		nap();
	}
}

/* ---- By LAB_COMMANDS. ---- */

enum { UNLOAD, LOAD, AT_WORK };

static void wait_until_open_is(bool is_open)
{
	wait_prepare(&queue);
	while (READ_ONCE(request.is_open) != is_open) {
		schedule();
		wait_prepare(&queue);
	}
	wait_finish(&queue);
}

static void set_open(bool is_open)
{
	WRITE_ONCE(request.is_open, is_open);
	wake_up_all(&queue);
}

static void serve(void *unused)
{
	sched_set_affinity(current, 1);
	sched_set_policy(current, SCHED_FIFO, PRIORITY_HIGHEST);
	for (;;) {
		wait_until_open_is(true);
		if (request.what == LOAD)
			load();
		else
			unload();
		request.still_at_work = READ_ONCE(at_work);
		WRITE_ONCE(request.is_loaded, request.what == LOAD);
		set_open(false);
	}
}

i64 ioctl_commands(u64 what)
{
	i64 result;

	if (what > AT_WORK)
		return -EINVAL;
	if (!request.is_served)
		return -ENODEV;
	if (what == AT_WORK)
		return READ_ONCE(at_work);
	result = mutex_lock(&asking);
	if (result)
		return result;
	if (request.is_loaded != (what == LOAD)) {
		request.what = what;
		set_open(true);
		wait_until_open_is(false);
		result = what == LOAD ? 0 : request.still_at_work;
	}
	mutex_unlock(&asking);
	return result;
}

static bool churn_is_asked_for(void)
{
	static const char name[] = "test.ioctl-churn";

	for (const char *at = boot_info.command_line; *at; at++)
		if (strncmp(at, name, sizeof(name) - 1) == 0)
			return true;
	return false;
}

void ioctl_start_churn(void)
{
	bool for_ever = churn_is_asked_for();
	struct task *task;

	if (!for_ever && !ioctl_table_is_used())
		return;
	task = task_create_kernel("churn", for_ever ? churn : serve, NULL);
	if (!task)
		return;
	request.is_served = !for_ever;
	sched_add_new(task);
}

/*
 * The kernel's start, as a list of steps: from head.S to the first program.
 *
 * One CPU runs, without interrupts, until the others are started; the boot stack becomes the idle
 * task's. Variants are known before the CPU is set up, and applied before text is protected.
 */
#include "../x86/boot.h"
#include "../x86/patch.h"
#include "../x86/x86.h"
#include "file.h"
#include "ioctl.h"
#include "link.h"
#include "page.h"
#include "variants.h"
#include "printk.h"
#include "sched.h"
#include "softirq.h"
#include "task.h"
#include "time.h"
#include "virtio_net.h"

#define INIT_OPTION "init="

u64 boot_tsc;

/* The command line's `init=`, or /init. */
static const char *init_path(void)
{
	static char path[PATH_MAX];
	const char *word = boot_info.command_line;
	size_t length = 0;

	while (*word && strncmp(word, INIT_OPTION, strlen(INIT_OPTION)) != 0) {
		while (*word && *word != ' ')
			word++;
		while (*word == ' ')
			word++;
	}
	if (!*word)
		return "/init";
	word += strlen(INIT_OPTION);
	while (word[length] && word[length] != ' ' && length < sizeof(path) - 1)
		length++;
	memcpy(path, word, length);
	return path;
}

static void first_task(void *unused)
{
	initramfs_unpack(phys_to_virt(boot_info.initramfs), boot_info.initramfs_size);
	exec_init(init_path());
}

static void start_first_task(void)
{
	struct task *task = task_create_kernel("init", first_task, NULL);

	if (!task)
		panic("no memory for the first task");
	sched_add_new(task);
}

/* Patches text and sets up CPU 0; before text_protect(). */
static void variants_apply(void)
{
	getcpu_check_cpu();
	alternatives_apply();
	flags_apply_variant();
	iobitmap_apply_variant();
	vdso_apply_variant();
	softirq_apply_variant();
	ioctl_apply_variant();
}

_Noreturn void kernel_main(u64 start_info)
{
	struct percpu *cpu = &percpu[0];

	boot_tsc = read_tsc();
	console_init();
	cpu->kstack = (u64)boot_stack_top;
	cpu->online = true;
	desc_init_cpu(cpu);
	lockdep_start();
	idt_init();
	boot_read(start_info);
	cpu_detect();
	variants_parse(boot_info.command_line);
	getcpu_check_room();
	cpu_init();
	paging_init();
	apic_init_cpu();
	time_calibrate();
	tasks_init();
	sched_init_cpu(cpu);
	files_init();
	softirq_test_init();
	variants_apply();
	variants_print();
	text_protect();
	virtio_net_init();
	link_init();
	smp_start_others();
	softirq_start_threads();
	lockdep_test(boot_info.command_line);
	ioctl_start_churn();
	start_first_task();
	idle_loop();
}

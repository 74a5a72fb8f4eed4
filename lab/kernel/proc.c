/*
 * The few files of /proc that programs look for: the kernel's symbols, its command line, its CPUs.
 * They are read-only, and their text does not change.
 */
#include "../x86/usercopy.h"
#include "../x86/x86.h"
#include "file.h"
#include "kallsyms.h"
#include "printk.h"
#include "syscall.h"

/* As read(2), of a text. */
static i64 text_read(const char *text, u64 size, u64 buffer, u64 count, u64 *position)
{
	u64 at = min(*position, size), left;

	count = min(count, size - at);
	left = copy_to_user(buffer, text + at, count);
	if (left && left == count)
		return -EFAULT;
	*position = at + count - left;
	return count - left;
}

static i64 kallsyms_read(struct file *file, u64 buffer, u64 count, u64 *position)
{
	return text_read(kallsyms_start, kallsyms_end - kallsyms_start, buffer, count, position);
}

static i64 command_line_read(struct file *file, u64 buffer, u64 count, u64 *position)
{
	char text[sizeof(boot_info.command_line) + 1];
	int length = snprintf(text, sizeof(text), "%s\n", boot_info.command_line);

	return text_read(text, length, buffer, count, position);
}

static i64 cpuinfo_read(struct file *file, u64 buffer, u64 count, u64 *position)
{
	char text[MAX_CPUS * 32];
	int length = 0;

	for (u32 i = 0; i < cpu_count; i++)
		length += snprintf(text + length, sizeof(text) - length, "processor\t: %u\n\n", i);
	return text_read(text, length, buffer, count, position);
}

static const struct file_operations kallsyms_operations = { .read = kallsyms_read };
static const struct file_operations command_line_operations = { .read = command_line_read };
static const struct file_operations cpuinfo_operations = { .read = cpuinfo_read };

static void make(const char *path, enum node_kind kind, const struct file_operations *operations)
{
	i64 error;
	struct node *node = node_create(NULL, path, kind, kind == NODE_FOLDER ? 0555 : 0444, 0,
					&error);

	if (!node)
		panic("%s can't be made: error %ld", path, -error);
	if (operations)
		node->operations = operations;
	node_put(node);
}

void proc_init(void)
{
	make("/proc", NODE_FOLDER, NULL);
	make("/proc/kallsyms", NODE_FILE, &kallsyms_operations);
	make("/proc/cmdline", NODE_FILE, &command_line_operations);
	make("/proc/cpuinfo", NODE_FILE, &cpuinfo_operations);
}

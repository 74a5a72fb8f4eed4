/*
 * execve(2): the program of the current process becomes another.
 *
 * The new address space is made complete first, beside the old: segments, stack, arguments, vDSO.
 * All that may fail has been done then; what follows, ending the process's other threads and
 * putting the new in the place of the old, can't.
 *
 * The stack's top, downwards: 8 zero bytes; the block of strings (arguments, environment, and those
 * that the auxiliary vector refers to); then auxiliary vector, environment and arguments as
 * pointers, and their count, where the stack pointer starts, 16-byte aligned.
 *
 * Differences from Linux: no scripts, no interpreters, no randomisation; arguments and environment
 * have 128 KiB and 4096 strings together, whatever the stack's limit.
 *
 * Sources: execve(2), getauxval(3); System V ABI, AMD64 supplement, 3.4.1; Linux fs/exec.c,
 * arch/x86/mm/mmap.c.
 */
#include "../x86/cpu.h"
#include "../x86/processor_state.h"
#include "../x86/usercopy.h"
#include "../x86/x86.h"
#include "elf.h"
#include "file.h"
#include "page.h"
#include "printk.h"
#include "process.h"
#include "random.h"
#include "random.h"
#include "syscall.h"
#include "syscalls.h"

#define STRINGS_ORDER 5
#define STRINGS_BYTES (PAGE_SIZE << STRINGS_ORDER)
#define STRINGS_MAX 4096

#define STACK_SPARE (128ul << 10) /* mapped below what execve puts there, as Linux does */
#define STACK_GUARD (1ul << 20)   /* Linux's stack_guard_gap: mappings stay that far away */
#define MMAP_GAP_MIN (128ul << 20)

#define AT_PHDR 3
#define AT_PHENT 4
#define AT_PHNUM 5
#define AT_PAGESZ 6
#define AT_BASE 7
#define AT_FLAGS 8
#define AT_ENTRY 9
#define AT_UID 11
#define AT_EUID 12
#define AT_GID 13
#define AT_EGID 14
#define AT_PLATFORM 15
#define AT_HWCAP 16
#define AT_CLKTCK 17
#define AT_SECURE 23
#define AT_RANDOM 25
#define AT_EXECFN 31
#define AT_SYSINFO 32
#define AT_SYSINFO_EHDR 33
#define AT_PAIRS 20

/* Strings collected from the old program, or the kernel. */
struct arguments {
	char *block; /* STRINGS_BYTES */
	u64 used;
	u32 count, environment; /* the environment's come after them */
};

struct image {
	struct mm *mm;
	struct elf_program program;
	u64 stack;                 /* its pointer at the start */
	u64 sysinfo, sysinfo_ehdr; /* 0: none */
};

/* A growing table of pointers, as wide as the program's. */
struct table {
	u8 *bytes;
	u64 used;
	bool compat;
};

/* Offset in the block, or -E2BIG. */
static i64 append(struct arguments *arguments, const void *bytes, u64 count)
{
	u64 at = arguments->used;

	if (count > STRINGS_BYTES - arguments->used)
		return -E2BIG;
	memcpy(arguments->block + at, bytes, count);
	arguments->used += count;
	return at;
}

static i64 append_user(struct arguments *arguments, u64 address)
{
	i64 length = copy_string_from_user(arguments->block + arguments->used, address,
					   STRINGS_BYTES - arguments->used);

	if (length < 0)
		return length == -ENAMETOOLONG ? -E2BIG : length;
	arguments->used += length + 1;
	return 0;
}

/* All strings of a vector that ends in a null pointer; a null vector has none. */
static i64 append_vector(struct arguments *arguments, u64 vector, bool compat, u32 *count)
{
	u64 width = compat ? sizeof(u32) : sizeof(u64), address;
	i64 error;

	for (*count = 0; vector; vector += width, ++*count) {
		address = 0;
		if (copy_from_user(&address, vector, width))
			return -EFAULT;
		if (!address)
			break;
		if (*count == STRINGS_MAX)
			return -E2BIG;
		error = append_user(arguments, address);
		if (error)
			return error;
	}
	return 0;
}

static void push(struct table *table, u64 value)
{
	u64 width = table->compat ? sizeof(u32) : sizeof(u64);

	memcpy(table->bytes + table->used, &value, width);
	table->used += width;
}

static void push_pair(struct table *table, u64 key, u64 value)
{
	push(table, key);
	push(table, value);
}

/* Pointers to the next `count` strings of the block, and a null; where the strings go on. */
static const char *push_strings(struct table *table, const struct arguments *arguments,
				const char *string, u32 count, u64 block_at)
{
	for (; count > 0; count--) {
		push(table, block_at + (string - arguments->block));
		string += strlen(string) + 1;
	}
	push(table, 0);
	return string;
}

struct extras {
	i64 path, platform, random; /* offsets in the block */
};

static void push_auxiliary(struct table *table, const struct image *image, u64 block_at,
			   const struct extras *extras)
{
	const struct elf_program *program = &image->program;

	if (image->sysinfo)
		push_pair(table, AT_SYSINFO, image->sysinfo);
	if (image->sysinfo_ehdr)
		push_pair(table, AT_SYSINFO_EHDR, image->sysinfo_ehdr);
	push_pair(table, AT_HWCAP, cpuid(1, 0).d);
	push_pair(table, AT_PAGESZ, PAGE_SIZE);
	push_pair(table, AT_CLKTCK, 100);
	push_pair(table, AT_PHDR, program->headers);
	push_pair(table, AT_PHENT, program->header_size);
	push_pair(table, AT_PHNUM, program->header_count);
	push_pair(table, AT_BASE, 0);
	push_pair(table, AT_FLAGS, 0);
	push_pair(table, AT_ENTRY, program->entry);
	push_pair(table, AT_UID, 0);
	push_pair(table, AT_EUID, 0);
	push_pair(table, AT_GID, 0);
	push_pair(table, AT_EGID, 0);
	push_pair(table, AT_SECURE, 0);
	push_pair(table, AT_RANDOM, block_at + extras->random);
	push_pair(table, AT_EXECFN, block_at + extras->path);
	push_pair(table, AT_PLATFORM, block_at + extras->platform);
	push_pair(table, 0, 0);
}

static i64 append_extras(struct arguments *arguments, const char *path, bool compat,
			 struct extras *extras)
{
	const char *platform = compat ? "i686" : "x86_64";
	u64 random[2] = { random_next(), random_next() };

	extras->path = append(arguments, path, strlen(path) + 1);
	extras->platform = append(arguments, platform, strlen(platform) + 1);
	extras->random = append(arguments, random, sizeof(random));
	return extras->path < 0 || extras->platform < 0 || extras->random < 0 ? -E2BIG : 0;
}

/* Maps the stack and writes block and table to it. */
static i64 write_stack(struct image *image, const struct arguments *arguments,
		       const struct extras *extras, struct table *table)
{
	u64 top = image->program.compat ? USER_TOP_32 : USER_TOP;
	u64 block_at = align_down(top - sizeof(u64) - arguments->used, 16);
	u64 words = 1 + arguments->count + 1 + arguments->environment + 1 + 2 * AT_PAIRS;
	u64 width = table->compat ? sizeof(u32) : sizeof(u64), bottom;
	const char *string = arguments->block;
	i64 error;

	image->stack = align_down(block_at - words * width, 16);
	bottom = align_down(image->stack - STACK_SPARE, PAGE_SIZE);
	push(table, arguments->count);
	string = push_strings(table, arguments, string, arguments->count, block_at);
	push_strings(table, arguments, string, arguments->environment, block_at);
	push_auxiliary(table, image, block_at, extras);
	error = mm_map(image->mm, bottom, top - bottom, AREA_READ | AREA_WRITE | AREA_GROWSDOWN,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE);
	if (error < 0)
		return error;
	error = mm_write(image->mm, block_at, arguments->block, arguments->used);
	return error ? error : mm_write(image->mm, image->stack, table->bytes, table->used);
}

static i64 make_stack(struct image *image, struct arguments *arguments, const char *path)
{
	struct table table = { .compat = image->program.compat };
	struct extras extras;
	i64 error = append_extras(arguments, path, table.compat, &extras);

	if (error)
		return error;
	table.bytes = kmalloc((3 + arguments->count + arguments->environment + 2 * AT_PAIRS) *
			      sizeof(u64));
	if (!table.bytes)
		return -ENOMEM;
	error = write_stack(image, arguments, &extras, &table);
	kfree(table.bytes);
	return error;
}

/* Where mappings begin, downwards: below the room that the stack's limit gives to it. */
static u64 mmap_top(bool compat, u64 stack_limit)
{
	u64 top = compat ? USER_TOP_32 : USER_TOP;
	u64 gap = stack_limit + STACK_GUARD;

	if (gap < stack_limit)
		gap = stack_limit;
	gap = max(gap, MMAP_GAP_MIN);
	gap = min(gap, top / 6 * 5);
	return align_up(top - gap, PAGE_SIZE);
}

/* The program of a file, -EACCES if it is not to be executed. */
static i64 load_file(const char *path, struct image *image)
{
	struct node *node = node_find(path);
	i64 error = -EACCES;

	if (!node)
		return -ENOENT;
	if (node->kind == NODE_FILE && node->mode & 0111) {
		spin_lock(&node->lock);
		error = elf_load(node->data, node->data ? node->size : 0, image->mm,
				 &image->program);
		spin_unlock(&node->lock);
	}
	node_put(node);
	return error;
}

/* All of the new program, in a new address space; the caller lets go of that after an error. */
static i64 load(const char *path, struct arguments *arguments, struct image *image)
{
	struct mm *mm = image->mm;
	i64 error = load_file(path, image);

	if (error)
		return error;
	mm->brk_start = mm->brk = image->program.end;
	mm->mmap_top = mmap_top(mm->compat, current->group->stack_limit);
	if (mm->compat)
		image->sysinfo_ehdr = vdso_map_compat(mm, &image->sysinfo);
	else
		image->sysinfo_ehdr = vdso_map(mm);
	return make_stack(image, arguments, path);
}

/* Handlers are gone with the old program; what was ignored stays so. The table may be shared with
 * another process (CLONE_SIGHAND). */
static void reset_actions(struct group *group, struct sigaction_table *fresh)
{
	struct sigaction_table *old = group->actions;
	u64 flags = spin_lock_irqsave(&tasks_lock);

	for (u32 number = 1; number <= SIGNALS; number++)
		if (old->action[number].handler == SIG_IGN)
			fresh->action[number].handler = SIG_IGN;
	group->actions = fresh;
	spin_unlock_irqrestore(&tasks_lock, flags);
	actions_put(old);
}

static void rename(struct task *task, const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	snprintf(task->name, sizeof(task->name), "%s", name);
}

/* The new takes the place of the old; nothing here fails. */
static void replace(const struct image *image, const char *path, struct files *files,
		    struct sigaction_table *actions)
{
	struct task *task = current;
	struct mm *old = task->mm;

	if (old)
		clear_tid(task);
	task->mm = image->mm;
	mm_activate(image->mm);
	if (old)
		mm_put(old);
	files_put(task->files);
	task->files = files;
	files_close_on_exec(files);
	reset_actions(task->group, actions);
	task->alt_stack = task->alt_stack_size = 0;
	iobitmap_drop(task);
	rename(task, path);
	program_start(image->program.entry, image->stack, image->program.compat);
}

/* Everything that has to be there before the point of no return, then beyond it. */
static i64 exec(const char *path, struct arguments *arguments)
{
	struct image image = { .mm = mm_create() };
	struct sigaction_table *actions = actions_create(NULL);
	struct files *files = NULL;
	i64 error = -ENOMEM;

	if (image.mm && actions)
		error = load(path, arguments, &image);
	if (!error) {
		files = files_fork(current->files);
		error = files ? end_other_threads() : -ENOMEM;
	}
	if (!error) {
		replace(&image, path, files, actions);
		return 0;
	}
	if (files)
		files_put(files);
	if (actions)
		actions_put(actions);
	if (image.mm)
		mm_put(image.mm);
	return error;
}

static i64 exec_user(u64 user_path, u64 argv, u64 envp, bool compat)
{
	struct arguments arguments = { .block = page_alloc(STRINGS_ORDER) };
	char path[PATH_MAX];
	i64 error = copy_string_from_user(path, user_path, sizeof(path));

	if (!arguments.block)
		return -ENOMEM;
	if (error >= 0)
		error = append_vector(&arguments, argv, compat, &arguments.count);
	if (!error)
		error = append_vector(&arguments, envp, compat, &arguments.environment);
	if (!error)
		error = exec(path, &arguments);
	page_free(arguments.block, STRINGS_ORDER);
	return error;
}

i64 sys_execve(u64 path, u64 argv, u64 envp)
{
	return exec_user(path, argv, envp, false);
}

i64 compat_execve(u64 path, u64 argv, u64 envp)
{
	return exec_user(path, argv, envp, true);
}

/* Standard input, output and error. */
static void open_console(void)
{
	for (i64 fd = 0; fd <= 2; fd++)
		if (file_open("/dev/console", O_RDWR, 0) != fd)
			panic("/dev/console can't be opened");
}

_Noreturn void exec_init(const char *path)
{
	static const char environment[] = "HOME=/\0TERM=linux";
	struct arguments arguments = { .block = page_alloc(STRINGS_ORDER), .count = 1,
				       .environment = 2 };
	i64 error = -ENOMEM;

	if (arguments.block && !task_become_init()) {
		open_console();
		append(&arguments, path, strlen(path) + 1);
		append(&arguments, environment, sizeof(environment));
		error = exec(path, &arguments);
		page_free(arguments.block, STRINGS_ORDER);
	}
	if (error)
		panic("%s can't be executed: error %ld", path, -error);
	enter_user();
}

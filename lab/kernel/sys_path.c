/*
 * System calls of names: paths of Linux's ABI, handed on to the tree of file.h.
 *
 * There is one user, who may do everything, and one folder to start from, the root.
 */
#include "../x86/usercopy.h"
#include "file.h"
#include "page.h"
#include "syscall.h"
#include "syscalls.h"

#define AT_FDCWD (-100)
#define AT_SYMLINK_NOFOLLOW 0x100u
#define AT_EMPTY_PATH 0x1000u

static i64 path_from_user(char path[PATH_MAX], u64 from)
{
	return min(copy_string_from_user(path, from, PATH_MAX), 0l);
}

/* The folder that a name is looked up from: *start with a reference to *file, or the root. */
static i64 start_folder(u64 folder, const char *path, struct node **start, struct file **file)
{
	*start = NULL;
	*file = NULL;
	if ((i32)folder == AT_FDCWD || *path == '/')
		return 0;
	*file = file_get(folder);
	if (!*file)
		return -EBADF;
	*start = (*file)->node;
	if (*start)
		return 0;
	file_put(*file);
	return -ENOTDIR;
}

i64 sys_openat(u64 folder, u64 path_user, u64 flags, u64 mode)
{
	char path[PATH_MAX];
	struct node *start;
	struct file *from;
	i64 result = path_from_user(path, path_user);

	if (result < 0)
		return result;
	result = start_folder(folder, path, &start, &from);
	if (result < 0)
		return result;
	result = file_open_at(start, path, flags, mode);
	if (from)
		file_put(from);
	return result;
}

i64 sys_open(u64 path_user, u64 flags, u64 mode)
{
	char path[PATH_MAX];
	i64 result = path_from_user(path, path_user);

	return result < 0 ? result : file_open_at(NULL, path, flags, mode);
}

/* struct stat of x86-64: arch/x86/include/uapi/asm/stat.h */
struct stat {
	u64 device, inode, links;
	u32 mode, uid, gid, pad;
	u64 special_device, size, block_size, blocks;
	u64 times[6];
	u64 unused[3];
};

_Static_assert(sizeof(struct stat) == 144 && offsetof(struct stat, size) == 48, "asm/stat.h");

#define MODE_PIPE 0010600u

static const u32 mode_types[] = {
	[NODE_FILE] = 0100000,
	[NODE_FOLDER] = 0040000,
	[NODE_DEVICE] = 0020000,
	[NODE_LINK] = 0120000,
};

/* Of a node, or of a pipe, which has none. */
static i64 put_stat(u64 out, const struct node *node)
{
	struct stat stat = { .device = 1, .links = 1, .mode = MODE_PIPE, .block_size = PAGE_SIZE };

	if (node) {
		stat.inode = node->inode;
		stat.mode = mode_types[node->kind] | node->mode;
		stat.special_device = node->device;
		stat.size = node->size;
		stat.blocks = (node->size + 511) / 512;
	}
	return copy_to_user(out, &stat, sizeof(stat)) ? -EFAULT : 0;
}

static i64 stat_path(struct node *start, const char *path, u64 out, bool follow)
{
	i64 result;
	struct node *node = node_lookup(start, path, follow, &result);

	if (!node)
		return result;
	result = put_stat(out, node);
	node_put(node);
	return result;
}

i64 sys_stat(u64 path_user, u64 out)
{
	char path[PATH_MAX];
	i64 result = path_from_user(path, path_user);

	return result < 0 ? result : stat_path(NULL, path, out, true);
}

i64 sys_lstat(u64 path_user, u64 out)
{
	char path[PATH_MAX];
	i64 result = path_from_user(path, path_user);

	return result < 0 ? result : stat_path(NULL, path, out, false);
}

i64 sys_fstat(u64 fd, u64 out)
{
	struct file *file = file_get(fd);
	i64 result;

	if (!file)
		return -EBADF;
	result = put_stat(out, file->node);
	file_put(file);
	return result;
}

i64 sys_newfstatat(u64 folder, u64 path_user, u64 out, u64 flags)
{
	char path[PATH_MAX];
	struct node *start;
	struct file *from;
	i64 result = path_from_user(path, path_user);

	if (result < 0)
		return result;
	if (!*path && flags & AT_EMPTY_PATH)
		return sys_fstat(folder, out);
	result = start_folder(folder, path, &start, &from);
	if (result < 0)
		return result;
	result = stat_path(start, path, out, !(flags & AT_SYMLINK_NOFOLLOW));
	if (from)
		file_put(from);
	return result;
}

#define EXECUTABLE 0111u
#define X_OK 1u

i64 sys_access(u64 path_user, u64 mode)
{
	char path[PATH_MAX];
	struct node *node;
	i64 result = path_from_user(path, path_user);

	if (result < 0)
		return result;
	node = node_lookup(NULL, path, true, &result);
	if (!node)
		return result;
	result = mode & X_OK && !(node->mode & EXECUTABLE) ? -EACCES : 0;
	node_put(node);
	return result;
}

static i64 create(u64 path_user, enum node_kind kind, u32 mode, u32 device)
{
	char path[PATH_MAX];
	struct node *node;
	i64 result = path_from_user(path, path_user);

	if (result < 0)
		return result;
	node = node_create(NULL, path, kind, mode, device, &result);
	if (node)
		node_put(node);
	return result;
}

i64 sys_mkdir(u64 path, u64 mode)
{
	return create(path, NODE_FOLDER, mode, 0);
}

#define TYPE_MASK 0170000u

/* Ordinary files and character devices; a number has 8 bits of minor around 12 of major, and more
 * that no device here has. */
i64 sys_mknod(u64 path, u64 mode, u64 device)
{
	u32 type = mode & TYPE_MASK;

	if (type == 0 || type == mode_types[NODE_FILE])
		return create(path, NODE_FILE, mode, 0);
	if (type == mode_types[NODE_DEVICE])
		return create(path, NODE_DEVICE, mode, device & 0xfffff);
	return -EPERM;
}

/* File systems that are there from the start, so there is nothing left to do. */
static const char *const mounted[] = { "devtmpfs", "proc", "sysfs" };

i64 sys_mount(u64 source, u64 target, u64 kind_user, u64 flags, u64 data)
{
	char kind[PATH_MAX];
	i64 result = path_from_user(kind, kind_user);

	if (result < 0)
		return result;
	for (size_t i = 0; i < ARRAY_SIZE(mounted); i++)
		if (strcmp(kind, mounted[i]) == 0)
			return 0;
	return -ENODEV;
}

i64 sys_getcwd(u64 buffer, u64 size)
{
	if (size < 2)
		return -ERANGE;
	return copy_to_user(buffer, "/", 2) ? -EFAULT : 2;
}

i64 sys_readlink(u64 path_user, u64 buffer, u64 size)
{
	char path[PATH_MAX];
	struct node *node;
	i64 result = path_from_user(path, path_user);

	if (result < 0)
		return result;
	node = node_lookup(NULL, path, false, &result);
	if (!node)
		return result;
	result = -EINVAL;
	if (node->kind == NODE_LINK && (i64)size > 0) {
		result = min(size, node->size);
		if (copy_to_user(buffer, node->data, result))
			result = -EFAULT;
	}
	node_put(node);
	return result;
}

i64 sys_unlink(u64 path_user)
{
	char path[PATH_MAX];
	i64 result = path_from_user(path, path_user);

	return result < 0 ? result : node_remove(path);
}

i64 sys_getdents64(u64 fd, u64 buffer, u64 size)
{
	struct file *folder = file_get(fd);
	i64 result = -ENOTDIR;

	if (!folder)
		return -EBADF;
	if (folder->node && folder->node->kind == NODE_FOLDER)
		result = node_list(folder, buffer, (u32)size);
	file_put(folder);
	return result;
}

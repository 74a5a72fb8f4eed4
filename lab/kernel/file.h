/*
 * Files: descriptors, open files with their operations, and the tree of names (the initramfs,
 * unpacked at boot, with the devices and /proc files that programs look for).
 */
#ifndef LAB_FILE_H
#define LAB_FILE_H

#include "lock.h"
#include "sched.h"
#include "types.h"

#define MAX_FILES 256 /* a process */
#define PATH_MAX 256

#define O_ACCMODE 3u
#define O_RDONLY 0u
#define O_WRONLY 1u
#define O_RDWR 2u
#define O_CREAT 0100u
#define O_EXCL 0200u
#define O_TRUNC 01000u
#define O_APPEND 02000u
#define O_NONBLOCK 04000u
#define O_DIRECTORY 0200000u
#define O_NOFOLLOW 0400000u
#define O_CLOEXEC 02000000u

struct file;
struct node;

/* Buffers are user addresses unless noted. Any may be NULL: -EINVAL, or -ENOTTY for
 * ioctl. */
struct file_operations {
	i64 (*read)(struct file *file, u64 buffer, u64 count, u64 *position);
	i64 (*write)(struct file *file, u64 buffer, u64 count, u64 *position);
	i64 (*ioctl)(struct file *file, u32 command, u64 argument);
	i64 (*compat_ioctl)(struct file *file, u32 command, u64 argument);
	/* compat-ioctl=flag: in place of both. */
	i64 (*told_ioctl)(struct file *file, u32 command, u64 argument, bool compat);
	void (*release)(struct file *file);
};

struct file {
	const struct file_operations *operations;
	struct node *node;   /* NULL: a pipe */
	u32 references;      /* descriptors, atomically */
	u32 flags;           /* O_* */
	u64 position;
	void *data;          /* the operations' own */
};

struct files {
	struct spinlock lock;
	u32 references;                   /* tasks, atomically */
	struct file *file[MAX_FILES];
	u64 open[MAX_FILES / 64];         /* bit n: file[n] is one */
	u64 close_on_exec[MAX_FILES / 64];
};

enum node_kind { NODE_FILE, NODE_FOLDER, NODE_DEVICE, NODE_LINK };

/* A name in the tree. Its bytes are read and changed under its lock, which is taken before the
 * lock of an address space. */
struct node {
	char name[64];
	enum node_kind kind;
	u32 mode;            /* permission bits */
	u32 device;          /* major << 8 | minor */
	u64 inode;
	u32 references;      /* the tree, open files and node_find()'s callers, atomically */
	struct node *parent;
	struct list children, sibling;
	struct spinlock lock;
	u8 *data;            /* a file's bytes: kmalloc'ed if `owned`, else part of the initramfs */
	u64 size, capacity;
	bool owned;
	const struct file_operations *operations;
};

/* tree.c */
void tree_init(void);
/* The node of that name, links followed, with a reference for the caller; NULL: there is none. */
struct node *node_find(const char *path);
/* The same from folder `start` (NULL: the root); NULL and *error: why not. */
struct node *node_lookup(struct node *start, const char *path, bool follow_last, i64 *error);
/* Makes a name; its node, with a reference, or NULL and *error. */
struct node *node_create(struct node *start, const char *path, enum node_kind kind, u32 mode,
			 u32 device, i64 *error);
i64 node_remove(const char *path);
void node_put(struct node *node);
/* Forgets the bytes of a file. */
void node_truncate(struct node *node);
/* getdents64(2) of an open folder. */
i64 node_list(struct file *folder, u64 buffer, u64 size);

/* cpio.c: a newc archive into the tree; a damaged one is a panic. */
void initramfs_unpack(const void *archive, u64 size);

/* proc.c, devices.c: their files. */
void proc_init(void);
void devices_init(void);
/* And in *data what its open files get as theirs; NULL: there is no such device. */
const struct file_operations *device_operations(u32 device, void **data);

/* pipe.c: a pipe's two open files; 0 or -errno. */
i64 pipe_create(u32 flags, struct file **reader, struct file **writer);

/* file.c */
void files_init(void);
struct files *files_create(void);
struct files *files_fork(struct files *from);
void files_get(struct files *files);
void files_put(struct files *files);
void files_close_on_exec(struct files *files);
/* The current task's open file, with a reference taken; NULL: -EBADF. */
struct file *file_get(u32 fd);
void file_put(struct file *file);
/* The same without a reference, for the length of one system call; NULL also if the table is
 * shared, when another thread could close it meanwhile. */
static inline struct file *file_peek(u32 fd)
{
	const struct files *files = current->files;

	if (unlikely(fd >= MAX_FILES || READ_ONCE(files->references) > 1))
		return NULL;
	return files->file[fd];
}
/* A descriptor for it, the lowest free from `lowest` on, or -EMFILE. It takes over the reference if
 * all goes well; of `flags` only O_CLOEXEC counts. */
i64 file_install_from(struct file *file, u32 lowest, u32 flags);
i64 file_install(struct file *file, u32 flags);
/* At just this descriptor, in place of what it was: the descriptor, or -EBADF. */
i64 file_install_at(struct file *file, u32 fd, u32 flags);
i64 file_close(u32 fd);
/* Whether the descriptor closes on exec; and that it shall. */
bool file_closes_on_exec(u32 fd);
void file_set_close_on_exec(u32 fd, bool on);
struct file *file_create(const struct file_operations *operations, u32 flags, void *data);
/* A descriptor or -errno; from folder `start`, NULL: the root. */
i64 file_open_at(struct node *start, const char *path, u32 flags, u32 mode);
i64 file_open(const char *path, u32 flags, u32 mode);
u64 file_live_count(void);

#endif

/*
 * Open files and descriptors.
 *
 * A table of descriptors that only one task uses is looked into without its lock: nobody else can
 * change it meanwhile. Shared by threads, it is locked. A file lives until its last reference goes:
 * descriptors have one each, and so has each call that is at work on it.
 */
#include "file.h"
#include "page.h"
#include "printk.h"
#include "syscall.h"

static u64 live_files;

void files_init(void)
{
	tree_init();
	devices_init();
	proc_init();
}

struct files *files_create(void)
{
	struct files *files = kzalloc(sizeof(*files));

	if (files)
		files->references = 1;
	return files;
}

/* Runs the body for each `fd` whose bit is set; it may clear that bit. */
#define for_each_bit(fd, bits)                                                                     \
	for (u32 word_ = 0; word_ < ARRAY_SIZE(bits); word_++)                                     \
		for (u64 rest_ = (bits)[word_];                                                    \
		     rest_ && ((fd) = word_ * 64 + __builtin_ctzl(rest_), true); rest_ &= rest_ - 1)

struct files *files_fork(struct files *from)
{
	struct files *files = files_create();
	u32 fd;

	if (!files)
		return NULL;
	spin_lock(&from->lock);
	memcpy(files->open, from->open, sizeof(files->open));
	memcpy(files->close_on_exec, from->close_on_exec, sizeof(files->close_on_exec));
	for_each_bit(fd, from->open) {
		files->file[fd] = from->file[fd];
		__atomic_fetch_add(&from->file[fd]->references, 1, __ATOMIC_RELAXED);
	}
	spin_unlock(&from->lock);
	return files;
}

void files_get(struct files *files)
{
	__atomic_fetch_add(&files->references, 1, __ATOMIC_RELAXED);
}

void files_put(struct files *files)
{
	u32 fd;

	if (__atomic_sub_fetch(&files->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	for_each_bit(fd, files->open)
		file_put(files->file[fd]);
	kfree(files);
}

void files_close_on_exec(struct files *files)
{
	u32 fd;

	for_each_bit(fd, files->close_on_exec)
		file_close(fd);
}

struct file *file_get(u32 fd)
{
	struct files *files = current->files;
	bool shared = READ_ONCE(files->references) > 1;
	struct file *file;

	if (unlikely(fd >= MAX_FILES))
		return NULL;
	if (unlikely(shared))
		spin_lock(&files->lock);
	file = files->file[fd];
	if (likely(file))
		__atomic_fetch_add(&file->references, 1, __ATOMIC_RELAXED);
	if (unlikely(shared))
		spin_unlock(&files->lock);
	return file;
}

static void file_free(struct file *file)
{
	if (file->operations->release)
		file->operations->release(file);
	if (file->node)
		node_put(file->node);
	kfree(file);
	__atomic_fetch_sub(&live_files, 1, __ATOMIC_RELAXED);
}

void file_put(struct file *file)
{
	if (__atomic_sub_fetch(&file->references, 1, __ATOMIC_ACQ_REL) == 0)
		file_free(file);
}

struct file *file_create(const struct file_operations *operations, u32 flags, void *data)
{
	struct file *file = kzalloc(sizeof(*file));

	if (!file)
		return NULL;
	file->operations = operations;
	file->references = 1;
	file->flags = flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC);
	file->data = data;
	__atomic_fetch_add(&live_files, 1, __ATOMIC_RELAXED);
	return file;
}

u64 file_live_count(void)
{
	return READ_ONCE(live_files);
}

static void set_bit(u64 *bits, u32 n, bool on)
{
	u64 mask = 1ul << n % 64;

	bits[n / 64] = on ? bits[n / 64] | mask : bits[n / 64] & ~mask;
}

/* The lowest free descriptor from `lowest` on, or MAX_FILES. */
static u32 lowest_free(const struct files *files, u32 lowest)
{
	u64 skip = (1ul << lowest % 64) - 1;

	for (u32 word = lowest / 64; word < ARRAY_SIZE(files->open); word++, skip = 0) {
		u64 free = ~(files->open[word] | skip);

		if (free)
			return word * 64 + __builtin_ctzl(free);
	}
	return MAX_FILES;
}

/* With files->lock held. What was there before, or NULL. */
static struct file *put_into(struct files *files, u32 fd, struct file *file, bool close_on_exec)
{
	struct file *old = files->file[fd];

	files->file[fd] = file;
	set_bit(files->open, fd, file);
	set_bit(files->close_on_exec, fd, close_on_exec);
	return old;
}

i64 file_install_from(struct file *file, u32 lowest, u32 flags)
{
	struct files *files = current->files;
	u32 fd;

	spin_lock(&files->lock);
	fd = lowest_free(files, lowest);
	if (fd < MAX_FILES)
		put_into(files, fd, file, flags & O_CLOEXEC);
	spin_unlock(&files->lock);
	return fd < MAX_FILES ? (i64)fd : -EMFILE;
}

i64 file_install(struct file *file, u32 flags)
{
	return file_install_from(file, 0, flags);
}

i64 file_install_at(struct file *file, u32 fd, u32 flags)
{
	struct files *files = current->files;
	struct file *old;

	if (fd >= MAX_FILES)
		return -EBADF;
	spin_lock(&files->lock);
	old = put_into(files, fd, file, flags & O_CLOEXEC);
	spin_unlock(&files->lock);
	if (old)
		file_put(old);
	return fd;
}

i64 file_close(u32 fd)
{
	struct files *files = current->files;
	struct file *file;

	if (fd >= MAX_FILES)
		return -EBADF;
	spin_lock(&files->lock);
	file = put_into(files, fd, NULL, false);
	spin_unlock(&files->lock);
	if (!file)
		return -EBADF;
	file_put(file);
	return 0;
}

bool file_closes_on_exec(u32 fd)
{
	return current->files->close_on_exec[fd / 64] >> fd % 64 & 1;
}

void file_set_close_on_exec(u32 fd, bool on)
{
	struct files *files = current->files;

	spin_lock(&files->lock);
	set_bit(files->close_on_exec, fd, on && files->file[fd]);
	spin_unlock(&files->lock);
}

/* The node to open, made if it may be and is not there; NULL and *error. */
static struct node *find_or_create(struct node *start, const char *path, u32 flags, u32 mode,
				   i64 *error)
{
	struct node *node;

	for (;;) {
		node = node_lookup(start, path, !(flags & O_NOFOLLOW), error);
		if (node && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
			node_put(node);
			*error = -EEXIST;
			return NULL;
		}
		if (node || *error != -ENOENT || !(flags & O_CREAT))
			return node;
		node = node_create(start, path, NODE_FILE, mode, 0, error);
		if (node || *error != -EEXIST || flags & O_EXCL)
			return node;
		/* Someone else made it in between, or it is a link into the void. */
		if (!(node = node_lookup(start, path, true, error)))
			return NULL;
		node_put(node);
	}
}

/* 0 if a node of that kind can be opened so. */
static i64 check_kind(const struct node *node, u32 flags)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & (O_CREAT | O_TRUNC);

	if (node->kind == NODE_LINK)
		return -ELOOP;
	if (node->kind == NODE_FOLDER)
		return writes ? -EISDIR : 0;
	return flags & O_DIRECTORY ? -ENOTDIR : 0;
}

/* Opens a node whose reference becomes the file's, or is put. */
static i64 open_node(struct node *node, u32 flags)
{
	bool device = node->kind == NODE_DEVICE;
	void *data = NULL;
	const struct file_operations *operations =
		device ? device_operations(node->device, &data) : node->operations;
	i64 result = check_kind(node, flags);
	struct file *file = NULL;

	if (result == 0)
		result = operations ? -ENOMEM : -ENXIO;
	if (result == -ENOMEM)
		file = file_create(operations, flags, data);
	if (!file) {
		node_put(node);
		return result;
	}
	file->node = node;
	if (flags & O_TRUNC)
		node_truncate(node);
	result = file_install(file, flags);
	if (result < 0)
		file_put(file);
	return result;
}

i64 file_open_at(struct node *start, const char *path, u32 flags, u32 mode)
{
	i64 error;
	struct node *node = find_or_create(start, path, flags, mode, &error);

	return node ? open_node(node, flags) : error;
}

i64 file_open(const char *path, u32 flags, u32 mode)
{
	return file_open_at(NULL, path, flags, mode);
}

/*
 * The tree of names: folders, files in memory, devices and symbolic links.
 *
 * One lock guards names and their order; a node's own lock guards its bytes. Neither is ever held
 * while the other is taken, and both come before the lock of an address space, since bytes are
 * copied to and from programs under them. A node lives until its name, the files that are open on
 * it and all others who hold a reference are gone; only folders are never removed, so a node's
 * parent is always there.
 */
#include "../x86/usercopy.h"
#include "file.h"
#include "page.h"
#include "printk.h"
#include "syscall.h"

#define MAX_LINKS 8 /* followed in one path */
#define NAME_MAX (sizeof(((struct node *)0)->name) - 1)
#define MAX_FILE_SIZE (PAGE_SIZE << MAX_ORDER) /* what one kmalloc can give: 2 MiB */

/* A part of a path. */
struct name {
	const char *text;
	size_t length;
};

static const struct file_operations file_operations, folder_operations;
static struct spinlock tree_lock; /* plain */
static u64 last_inode;
static struct node root = { .kind = NODE_FOLDER, .mode = 0755, .references = 1 };

static bool name_is(struct name name, const char *text)
{
	return strncmp(name.text, text, name.length) == 0 && !text[name.length];
}

/* The next name in [*path, end), past which *path is moved; empty: there is none. */
static struct name next_name(const char **path, const char *end)
{
	struct name name;

	while (*path < end && **path == '/')
		++*path;
	name.text = *path;
	while (*path < end && **path != '/')
		++*path;
	name.length = *path - name.text;
	return name;
}

static struct node *child_find(struct node *folder, struct name name)
{
	struct list *place;

	if (name.text[0] == '.' && name_is(name, "."))
		return folder;
	if (name.text[0] == '.' && name_is(name, ".."))
		return folder->parent;
	list_for_each(place, &folder->children) {
		struct node *node = list_entry(place, struct node, sibling);

		if (name.text[0] == node->name[0] && name_is(name, node->name))
			return node;
	}
	return NULL;
}

/* Goes from folder `at`; NULL and *error. With the lock held, and without a new reference. */
static struct node *walk(struct node *at, const char *path, const char *end, bool follow_last,
			 unsigned links, i64 *error)
{
	struct name name;

	if (path < end && *path == '/')
		at = &root;
	while ((name = next_name(&path, end)).length) {
		struct node *folder = at;

		*error = -ENOTDIR;
		if (folder->kind != NODE_FOLDER)
			return NULL;
		*error = -ENOENT;
		at = child_find(folder, name);
		if (!at)
			return NULL;
		if (at->kind != NODE_LINK || (path == end && !follow_last))
			continue;
		*error = -ELOOP;
		if (links == MAX_LINKS)
			return NULL;
		at = walk(folder, (char *)at->data, (char *)at->data + at->size, true, links + 1,
			  error);
		if (!at)
			return NULL;
	}
	return at;
}

static struct node *node_get(struct node *node)
{
	__atomic_fetch_add(&node->references, 1, __ATOMIC_RELAXED);
	return node;
}

void node_put(struct node *node)
{
	if (__atomic_sub_fetch(&node->references, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	if (node->owned)
		kfree(node->data);
	kfree(node);
}

struct node *node_lookup(struct node *start, const char *path, bool follow_last, i64 *error)
{
	struct node *node = NULL;

	*error = -ENOENT;
	if (!*path)
		return NULL;
	spin_lock(&tree_lock);
	node = walk(start ? start : &root, path, path + strlen(path), follow_last, 0, error);
	if (node)
		node_get(node);
	spin_unlock(&tree_lock);
	return node;
}

struct node *node_find(const char *path)
{
	i64 error;

	return node_lookup(NULL, path, true, &error);
}

/* The last name of a path; empty if it has none. */
static struct name last_name(const char *path)
{
	const char *end = path + strlen(path);
	struct name name = { end, 0 }, next;

	while ((next = next_name(&path, end)).length)
		name = next;
	return name;
}

/* The folder in which the path's last name stands or would stand; NULL and *error. */
static struct node *walk_to_folder(struct node *start, const char *path, struct name last,
				   i64 *error)
{
	struct node *folder = walk(start ? start : &root, path, last.text, true, 0, error);

	if (folder && folder->kind != NODE_FOLDER) {
		*error = -ENOTDIR;
		return NULL;
	}
	return folder;
}

/* A node without a place in the tree, with one reference; NULL without memory. */
static struct node *node_new(struct name name, enum node_kind kind, u32 mode, u32 device)
{
	struct node *node = kzalloc(sizeof(*node));

	if (!node)
		return NULL;
	memcpy(node->name, name.text, name.length);
	node->kind = kind;
	node->mode = mode & 07777;
	node->device = device;
	node->references = 1;
	list_init(&node->children);
	if (kind == NODE_FILE)
		node->operations = &file_operations;
	else if (kind == NODE_FOLDER)
		node->operations = &folder_operations;
	return node;
}

/* The new node gets the caller's reference as the tree's own. With the lock held. */
static i64 node_add(struct node *start, const char *path, struct name name, struct node *node)
{
	i64 error;
	struct node *folder = walk_to_folder(start, path, name, &error);

	if (!folder)
		return error;
	if (child_find(folder, name))
		return -EEXIST;
	node->parent = folder;
	node->inode = ++last_inode;
	list_add_before(&node->sibling, &folder->children);
	return 0;
}

struct node *node_create(struct node *start, const char *path, enum node_kind kind, u32 mode,
			 u32 device, i64 *error)
{
	struct name name = last_name(path);
	struct node *node;

	*error = !*path ? -ENOENT : !name.length ? -EEXIST : -ENAMETOOLONG;
	if (!name.length || name.length > NAME_MAX)
		return NULL;
	*error = -ENOMEM;
	node = node_new(name, kind, mode, device);
	if (!node)
		return NULL;
	spin_lock(&tree_lock);
	*error = node_add(start, path, name, node);
	if (*error == 0)
		node_get(node);
	spin_unlock(&tree_lock);
	if (*error == 0)
		return node;
	node_put(node);
	return NULL;
}

/* With the lock held: the node that was taken out, or NULL and *error. */
static struct node *node_take_out(const char *path, i64 *error)
{
	struct name name = last_name(path);
	struct node *folder = walk_to_folder(NULL, path, name, error), *node;

	if (!folder)
		return NULL;
	node = name.length ? child_find(folder, name) : folder;
	*error = !node ? -ENOENT : node->kind == NODE_FOLDER ? -EISDIR : 0;
	if (*error < 0)
		return NULL;
	list_del(&node->sibling);
	return node;
}

i64 node_remove(const char *path)
{
	struct node *node;
	i64 error;

	spin_lock(&tree_lock);
	node = node_take_out(path, &error);
	spin_unlock(&tree_lock);
	if (node)
		node_put(node);
	return error;
}

void node_truncate(struct node *node)
{
	if (node->operations != &file_operations)
		return;
	spin_lock(&node->lock);
	if (node->owned)
		kfree(node->data);
	node->data = NULL;
	node->size = node->capacity = 0;
	node->owned = false;
	spin_unlock(&node->lock);
}

static i64 file_read(struct file *file, u64 buffer, u64 count, u64 *position)
{
	struct node *node = file->node;
	u64 left, done = 0;

	spin_lock(&node->lock);
	if (*position < node->size) {
		count = min(count, node->size - *position);
		left = copy_to_user(buffer, node->data + *position, count);
		done = count - left;
		*position += done;
		if (left && !done)
			done = -EFAULT;
	}
	spin_unlock(&node->lock);
	return done;
}

/* Makes room for `size` bytes, in memory of its own; 0, -EFBIG or -ENOMEM. */
static i64 reserve(struct node *node, u64 size)
{
	u64 capacity = max(2 * node->capacity, 64);
	u8 *data;

	if (size > MAX_FILE_SIZE)
		return -EFBIG;
	if (node->owned && size <= node->capacity)
		return 0;
	capacity = min(max(capacity, max(size, node->size)), MAX_FILE_SIZE);
	if (capacity < node->size)
		return -EFBIG; /* of the initramfs, and larger than any that can be changed */
	data = kmalloc(capacity);
	if (!data)
		return -ENOMEM;
	memcpy(data, node->data, node->size);
	if (node->owned)
		kfree(node->data);
	node->data = data;
	node->capacity = capacity;
	node->owned = true;
	return 0;
}

static i64 write_locked(struct node *node, u64 buffer, u64 count, u64 position)
{
	u64 left;
	i64 result = reserve(node, position + count);

	if (result < 0)
		return result;
	if (position > node->size)
		memset(node->data + node->size, 0, position - node->size);
	left = copy_from_user(node->data + position, buffer, count);
	if (left == count)
		return -EFAULT;
	node->size = max(node->size, position + count - left);
	return count - left;
}

static i64 file_write(struct file *file, u64 buffer, u64 count, u64 *position)
{
	struct node *node = file->node;
	i64 result;

	if (count == 0)
		return 0;
	spin_lock(&node->lock);
	if (file->flags & O_APPEND)
		*position = node->size;
	if (count > MAX_FILE_SIZE || *position > MAX_FILE_SIZE)
		result = -EFBIG;
	else
		result = write_locked(node, buffer, count, *position);
	if (result > 0)
		*position += result;
	spin_unlock(&node->lock);
	return result;
}

static const struct file_operations file_operations = { .read = file_read, .write = file_write };

static i64 folder_read(struct file *file, u64 buffer, u64 count, u64 *position)
{
	return -EISDIR;
}

static const struct file_operations folder_operations = { .read = folder_read };

/* struct linux_dirent64 */
struct entry {
	u64 inode;
	i64 next;
	u16 length;
	u8 kind;
	char name[NAME_MAX + 1 + 7]; /* and what the length is rounded up by */
} __attribute__((packed));

_Static_assert(offsetof(struct entry, name) == 19, "getdents64(2)");

/* Writes one entry; its length, or 0 if it does not fit, or -EFAULT. */
static i64 put_entry(u64 buffer, u64 size, const struct node *node, const char *name, u64 next)
{
	static const u8 kinds[] = {
		[NODE_FILE] = 8, [NODE_FOLDER] = 4, [NODE_DEVICE] = 2, [NODE_LINK] = 10,
	};
	struct entry entry = { .inode = node->inode, .next = next, .kind = kinds[node->kind] };
	size_t name_size = strlen(name) + 1;

	entry.length = align_up(offsetof(struct entry, name) + name_size, 8);
	memcpy(entry.name, name, name_size);
	if (entry.length > size)
		return 0;
	return copy_to_user(buffer, &entry, entry.length) ? -EFAULT : entry.length;
}

/* The folder's entry of that number: itself, its parent, its children; NULL: there are no more. */
static struct node *entry_at(struct node *folder, u64 number, const char **name)
{
	struct list *place;

	*name = number == 0 ? "." : "..";
	if (number < 2)
		return number == 0 ? folder : folder->parent;
	number -= 2;
	list_for_each(place, &folder->children) {
		struct node *node = list_entry(place, struct node, sibling);

		*name = node->name;
		if (number-- == 0)
			return node;
	}
	return NULL;
}

i64 node_list(struct file *folder, u64 buffer, u64 size)
{
	struct node *node;
	const char *name;
	i64 length = 0;
	u64 done = 0;

	spin_lock(&tree_lock);
	while ((node = entry_at(folder->node, folder->position, &name))) {
		length = put_entry(buffer + done, size - done, node, name, folder->position + 1);
		if (length <= 0)
			break;
		done += length;
		folder->position++;
	}
	spin_unlock(&tree_lock);
	if (done || !node)
		return done;
	return length < 0 ? length : -EINVAL;
}

void tree_init(void)
{
	root.parent = &root;
	root.inode = ++last_inode;
	root.operations = &folder_operations;
	list_init(&root.children);
}

/*
 * The initramfs: a cpio archive in the "newc" format, into the tree of names (Linux
 * Documentation/driver-api/early-userspace/buffer-format.rst).
 *
 * The archive comes from outside: every length in it is checked against what is there, and a
 * damaged one is a panic that names what and where. Files' bytes are left where they are.
 */
#include "file.h"
#include "printk.h"
#include "syscall.h"

/* All fields but the magic are 8 hexadecimal digits. */
struct header {
	char magic[6];
	char inode[8], mode[8], uid[8], gid[8], links[8], time[8], size[8];
	char major[8], minor[8], device_major[8], device_minor[8];
	char name_size[8]; /* with its NUL */
	char check[8];
};

_Static_assert(sizeof(struct header) == 110, "buffer-format.rst");

#define MAGIC "070701"
#define MAGIC_CHECKED "070702" /* the same with sums, which nobody checks */
#define TRAILER "TRAILER!!!"

/* Types in the mode: inode(7). */
#define MODE_TYPE 0170000u
#define MODE_FOLDER 0040000u
#define MODE_DEVICE 0020000u
#define MODE_FILE 0100000u
#define MODE_LINK 0120000u

struct archive {
	const char *start;
	u64 size, at;
};

static _Noreturn void damaged(const struct archive *archive, const char *what)
{
	panic("the initramfs is damaged at byte %lu: %s", archive->at, what);
}

/* The next `size` bytes. */
static const char *take(struct archive *archive, u64 size, const char *what)
{
	const char *bytes = archive->start + archive->at;

	if (size > archive->size - archive->at)
		damaged(archive, what);
	archive->at += size;
	return bytes;
}

/* Names and files are padded, so that what follows begins at a multiple of 4 from the start. */
static void skip_padding(struct archive *archive)
{
	archive->at = min(align_up(archive->at, 4), archive->size);
}

static u32 number(const struct archive *archive, const char *digits)
{
	u32 value = 0;

	for (int i = 0; i < 8; i++) {
		char c = digits[i], letter = c | 0x20;

		if (c >= '0' && c <= '9')
			value = value << 4 | (c - '0');
		else if (letter >= 'a' && letter <= 'f')
			value = value << 4 | (letter - 'a' + 10);
		else
			damaged(archive, "no hexadecimal number in a header");
	}
	return value;
}

/* The node for an entry; NULL if a folder or device of that name is there already. */
static struct node *make(const struct archive *archive, const char *name, enum node_kind kind,
			 u32 mode, u32 device)
{
	i64 error;
	struct node *node = node_create(NULL, name, kind, mode, device, &error);

	if (!node && error == -EEXIST && (kind == NODE_FOLDER || kind == NODE_DEVICE))
		return NULL;
	if (!node)
		panic("the initramfs's %s can't be made (error %ld) at byte %lu", name, -error,
		      archive->at);
	return node;
}

static void unpack_entry(struct archive *archive, const struct header *header, const char *name)
{
	u32 mode = number(archive, header->mode), size = number(archive, header->size);
	u32 device = number(archive, header->device_major) << 8 |
		     number(archive, header->device_minor);
	const char *data = take(archive, size, "a file's bytes are cut off");
	struct node *node = NULL;

	skip_padding(archive);
	switch (mode & MODE_TYPE) {
	case MODE_FOLDER:
		node = make(archive, name, NODE_FOLDER, mode, 0);
		break;
	case MODE_DEVICE:
		node = make(archive, name, NODE_DEVICE, mode, device);
		break;
	case MODE_FILE:
	case MODE_LINK:
		node = make(archive, name, (mode & MODE_TYPE) == MODE_FILE ? NODE_FILE : NODE_LINK,
			    mode, 0);
		node->data = (u8 *)data;
		node->size = size;
		break;
	default:
		printk("initramfs: %s is left out: mode %x\n", name, mode);
	}
	if (node)
		node_put(node);
}

/* Unpacks the entry that begins here; false if it is the archive's trailer. */
static bool unpack_next(struct archive *archive)
{
	const struct header *header;
	const char *name;
	u32 name_size;

	header = (const void *)take(archive, sizeof(*header), "a header is cut off");
	if (strncmp(header->magic, MAGIC, 6) != 0 && strncmp(header->magic, MAGIC_CHECKED, 6) != 0)
		damaged(archive, "no newc cpio header");
	name_size = number(archive, header->name_size);
	name = take(archive, name_size, "a name is cut off");
	if (!name_size || name[name_size - 1])
		damaged(archive, "a name does not end");
	skip_padding(archive);
	if (strcmp(name, TRAILER) == 0)
		return false;
	unpack_entry(archive, header, name);
	return true;
}

void initramfs_unpack(const void *start, u64 size)
{
	struct archive archive = { start, size, 0 };

	while (archive.at < size) {
		/* Between archives, and after the last, stand zeroes. */
		if (archive.start[archive.at])
			while (unpack_next(&archive))
				;
		else
			archive.at++;
	}
}

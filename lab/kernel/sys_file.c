/*
 * System calls of open files: descriptors and buffers of Linux's ABI, handed on to file.h.
 */
#include "../x86/usercopy.h"
#include "file.h"
#include "page.h"
#include "syscall.h"
#include "syscalls.h"

#define MAX_COUNT 0x7ffff000ul /* bytes of one call, as on Linux: results stay positive ints */
#define MAX_VECTOR 1024

static bool may_read(const struct file *file)
{
	return (file->flags & O_ACCMODE) != O_WRONLY;
}

static bool may_write(const struct file *file)
{
	return (file->flags & O_ACCMODE) != O_RDONLY;
}

static i64 read_file(struct file *file, u64 buffer, u64 count, u64 *position)
{
	if (unlikely(!may_read(file)))
		return -EBADF;
	if (unlikely(!file->operations->read))
		return -EINVAL;
	return file->operations->read(file, buffer, min(count, MAX_COUNT), position);
}

static i64 write_file(struct file *file, u64 buffer, u64 count, u64 *position)
{
	if (unlikely(!may_write(file)))
		return -EBADF;
	if (unlikely(!file->operations->write))
		return -EINVAL;
	return file->operations->write(file, buffer, min(count, MAX_COUNT), position);
}

i64 sys_read(u64 fd, u64 buffer, u64 count)
{
	struct file *file = file_get(fd);
	i64 result;

	if (unlikely(!file))
		return -EBADF;
	result = read_file(file, buffer, count, &file->position);
	file_put(file);
	return result;
}

i64 sys_write(u64 fd, u64 buffer, u64 count)
{
	struct file *file = file_get(fd);
	i64 result;

	if (unlikely(!file))
		return -EBADF;
	result = write_file(file, buffer, count, &file->position);
	file_put(file);
	return result;
}

typedef i64 (*transfer)(struct file *file, u64 buffer, u64 count, u64 *position);

/* At a place of its own: 0 or -ESPIPE for a pipe. */
static i64 transfer_at(u64 fd, u64 buffer, u64 count, u64 offset, transfer transfer)
{
	struct file *file = file_get(fd);
	i64 result = -ESPIPE;

	if (!file)
		return -EBADF;
	if ((i64)offset < 0)
		result = -EINVAL;
	else if (file->node)
		result = transfer(file, buffer, count, &offset);
	file_put(file);
	return result;
}

i64 sys_pread64(u64 fd, u64 buffer, u64 count, u64 offset)
{
	return transfer_at(fd, buffer, count, offset, read_file);
}

i64 sys_pwrite64(u64 fd, u64 buffer, u64 count, u64 offset)
{
	return transfer_at(fd, buffer, count, offset, write_file);
}

struct vector {
	u64 buffer, count;
};

/* One buffer after the other, until one is not served in full: bytes, or why not even the first. */
static i64 transfer_vector(u64 fd, u64 vector, u64 count, transfer transfer)
{
	struct file *file = count <= MAX_VECTOR ? file_get(fd) : NULL;
	u64 done = 0;
	i64 result = 0;

	if (!file)
		return count <= MAX_VECTOR ? -EBADF : -EINVAL;
	for (u64 i = 0; i < count; i++) {
		struct vector part;

		result = -EFAULT;
		if (copy_from_user(&part, vector + i * sizeof(part), sizeof(part)))
			break;
		part.count = min(part.count, MAX_COUNT - done);
		result = transfer(file, part.buffer, part.count, &file->position);
		if (result < 0)
			break;
		done += result;
		if ((u64)result < part.count)
			break;
	}
	file_put(file);
	return done ? (i64)done : result;
}

i64 sys_readv(u64 fd, u64 vector, u64 count)
{
	return transfer_vector(fd, vector, count, read_file);
}

i64 sys_writev(u64 fd, u64 vector, u64 count)
{
	return transfer_vector(fd, vector, count, write_file);
}

i64 sys_close(u64 fd)
{
	return file_close(fd);
}

enum { SEEK_SET, SEEK_CUR, SEEK_END };

static i64 seek(struct file *file, i64 offset, u32 whence)
{
	i64 base, place;

	if (!file->node)
		return -ESPIPE;
	if (whence > SEEK_END)
		return -EINVAL;
	base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file->position : file->node->size;
	if (__builtin_add_overflow(base, offset, &place) || place < 0)
		return -EINVAL;
	file->position = place;
	return place;
}

i64 sys_lseek(u64 fd, u64 offset, u64 whence)
{
	struct file *file = file_get(fd);
	i64 result;

	if (!file)
		return -EBADF;
	result = seek(file, offset, whence);
	file_put(file);
	return result;
}

/* Gives both files descriptors and tells the program; what went in is taken back on failure. */
static i64 install_pipe(struct file *reader, struct file *writer, u32 flags, u64 ends)
{
	i64 read_end = file_install(reader, flags), write_end;
	i32 both[2];

	if (read_end < 0) {
		file_put(reader);
		file_put(writer);
		return read_end;
	}
	write_end = file_install(writer, flags);
	if (write_end < 0) {
		file_close(read_end);
		file_put(writer);
		return write_end;
	}
	both[0] = read_end;
	both[1] = write_end;
	if (!copy_to_user(ends, both, sizeof(both)))
		return 0;
	file_close(read_end);
	file_close(write_end);
	return -EFAULT;
}

i64 sys_pipe2(u64 ends, u64 flags)
{
	struct file *reader, *writer;
	i64 result;

	if (flags & ~(u64)(O_NONBLOCK | O_CLOEXEC))
		return -EINVAL;
	result = pipe_create(flags, &reader, &writer);
	return result < 0 ? result : install_pipe(reader, writer, flags, ends);
}

i64 sys_pipe(u64 ends)
{
	return sys_pipe2(ends, 0);
}

static i64 duplicate(u64 fd, u32 lowest, u32 flags)
{
	struct file *file = file_get(fd);
	i64 result;

	if (!file)
		return -EBADF;
	result = file_install_from(file, lowest, flags);
	if (result < 0)
		file_put(file);
	return result;
}

i64 sys_dup(u64 fd)
{
	return duplicate(fd, 0, 0);
}

i64 sys_dup2(u64 from, u64 to)
{
	struct file *file = file_get(from);
	i64 result;

	if (!file)
		return -EBADF;
	if ((u32)from == (u32)to) {
		file_put(file);
		return (u32)to;
	}
	result = file_install_at(file, to, 0);
	if (result < 0)
		file_put(file);
	return result;
}

/* fcntl(2) */
#define F_DUPFD 0
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_DUPFD_CLOEXEC 1030
#define FD_CLOEXEC 1u
#define CHANGEABLE (O_APPEND | O_NONBLOCK)

static i64 control(struct file *file, u32 fd, u32 command, u64 argument)
{
	switch (command) {
	case F_DUPFD:
	case F_DUPFD_CLOEXEC:
		if (argument >= MAX_FILES)
			return -EINVAL;
		return duplicate(fd, argument, command == F_DUPFD ? 0 : O_CLOEXEC);
	case F_GETFD:
		return file_closes_on_exec(fd) ? FD_CLOEXEC : 0;
	case F_SETFD:
		file_set_close_on_exec(fd, argument & FD_CLOEXEC);
		return 0;
	case F_GETFL:
		return file->flags;
	case F_SETFL:
		file->flags = (file->flags & ~CHANGEABLE) | (argument & CHANGEABLE);
		return 0;
	}
	return -EINVAL;
}

i64 sys_fcntl(u64 fd, u64 command, u64 argument)
{
	struct file *file = file_get(fd);
	i64 result;

	if (!file)
		return -EBADF;
	result = control(file, fd, command, argument);
	file_put(file);
	return result;
}

/*
 * The buffer of what a plugin writes.
 */
#include "common/stream.h"

#include <errno.h>
#include <unistd.h>

struct stream out = { .fd = -1 };

void flush(void)
{
	size_t done = 0;

	while (done < out.filled) {
		ssize_t count = write(out.fd, out.buffer + done, out.filled - done);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		done += count;
	}
	out.written += out.filled;
	out.filled = 0;
}

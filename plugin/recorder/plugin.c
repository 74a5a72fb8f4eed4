/*
 * The recorder: a QEMU plugin that writes down every instruction and memory access of the windows
 * of the wanted paths, a stream for each, in the format of docs/reference/trace-format.md.
 *
 * Loading it changes no count: callbacks are not guest instructions. job.h has the wanted paths and
 * their streams, code.h the instructions, observation.h which windows are recorded, translation.h
 * what QEMU is told to call where; here are the arguments.
 *
 * A window holds what all CPUs execute from its begin to its end, as the clock counts it. No
 * callback can say which CPU it is for: under the exact clock, QEMU 10 and later hand over the
 * number of the CPU that translated the code, not of the one that executes it (they take it for
 * a constant wherever CPUs take turns; seen in 10.0.13).
 *
 * A path that the table of points names has its windows between two points of the kernel
 * (kernel/points.h), as the counter has them. One that is open when its observation ends is not
 * recorded as whole.
 *
 * Arguments: ask=on   print the range of API versions that QEMU takes, and end QEMU
 *            points=N the inherited descriptor with the table of points; before any path
 *            skip=N   windows of each path to pass over
 *            bytes=N  stop a path's stream after so many bytes
 *            most=N   stop it if a window has more instructions
 *            alarm=N  the inherited descriptor that gets two bytes if a stream is stopped before a
 *                     window has ended: the number of its path, from 0, and why
 *            path=N   record an execution of the path with this index. For each wanted
 *                     execution, in their order, followed by:
 *            pass=N   executions of the path to pass over before it; 0 without it
 *            fd=N     the inherited descriptor to write to
 *            take=N   how many windows to record
 *            warm=N   begin markers after which points count; 0 without it
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/api.h"
#include "common/linkage.h"
#include "common/qemu.h"
#include "kernel/points.h"
#include "recorder/job.h"
#include "recorder/translation.h"

/* `path=` begins a job; `fd=` and `take=` belong to the last one. */
static bool argument(const char *text)
{
	struct job *job = &jobs[job_count ? job_count - 1 : 0];
	uint64_t value;

	if (number(text, "path", &value)) {
		if (job_count == MAX_JOBS)
			return false;
		jobs[job_count++] = (struct job){ .path = value, .take = 1, .fd = -1 };
		return true;
	}
	if (number(text, "fd", &value)) {
		job->fd = (int)value;
		return value > 2;
	}
	if (number(text, "points", &value))
		return value > 2 && read_points((int)value);
	if (number(text, "alarm", &value)) {
		alarm_fd = (int)value;
		return value > 2;
	}
	return number(text, "skip", &limits.skip) || number(text, "bytes", &limits.bytes_limit) ||
	       number(text, "most", &limits.window_limit) || number(text, "take", &job->take) ||
	       number(text, "warm", &job->warm) || number(text, "pass", &job->pass);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	if (asked(info, argc, argv))
		return -1;
	for (int i = 0; i < argc; i++) {
		if (!argument(argv[i])) {
			fprintf(stderr, "recorder: argument %s is unknown\n", argv[i]);
			return -1;
		}
	}
	if (!job_count || !install(id, info))
		return -1;
	begin_translation(translate_markers);
	return 0;
}

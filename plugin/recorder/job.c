/*
 * The stream of a wanted path, from its header to its stop.
 */
#include "recorder/job.h"

#include <errno.h>
#include <unistd.h>

#include "common/stream.h"

struct job jobs[MAX_JOBS];
unsigned int job_count, current;

struct limits limits = { .bytes_limit = UINT64_MAX, .window_limit = UINT64_MAX };

enum { LONGEST_RECORD = 64 };

int alarm_fd = -1;
uint64_t windows_seen, windows_whole;
bool armed, inside;
uint64_t executed;
int64_t last_number;
int64_t run_first;
uint64_t run_count;
uint64_t last_address;

uint32_t code_count;

void record(enum tag tag)
{
	reserve(LONGEST_RECORD);
	put(tag);
}

void put_run(void)
{
	if (!run_count)
		return;
	record(RUN);
	put_signed(run_first - (last_number + 1));
	put_unsigned(run_count);
	last_number = run_first + run_count - 1;
	run_count = 0;
}

/* Has the host end the guest: this path may go on for ever, and nothing of it can be shown. */
static void raise_alarm(enum why why)
{
	const uint8_t message[] = { (uint8_t)current, (uint8_t)why };

	while (write(alarm_fd, message, sizeof(message)) < 0 && errno == EINTR)
		;
}

void stop(enum why why)
{
	put_run();
	record(STOP);
	put(why);
	flush();
	close(out.fd);
	if (why != ALL_RECORDED && !windows_whole)
		raise_alarm(why);
	current++;
	armed = inside = false;
}

void arm(void)
{
	static const uint8_t HEADER[8] = "PMTR\1";

	out.fd = jobs[current].fd;
	out.filled = out.written = 0;
	put_bytes(HEADER, sizeof(HEADER));
	windows_seen = windows_whole = 0;
	code_count = 0;
	armed = true;
}

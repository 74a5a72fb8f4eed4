/*
 * The recorder: a QEMU plugin that writes down every instruction and memory access of the windows
 * of the wanted paths, a stream for each, in the format of docs/reference/trace-format.md.
 *
 * Until the probe of the first wanted path announces itself by a marker, only markers are
 * instrumented, so that the way there costs next to nothing. Then the plugin resets itself once and
 * instruments everything; a second reset with memory callbacks installed aborts QEMU 7.2, so there
 * is none. Loading it changes no count: callbacks are not guest instructions.
 *
 * A window holds what all CPUs execute from its begin to its end, as the clock counts it. No
 * callback can say which CPU it is for: under the exact clock, QEMU 10 and later hand over the
 * number of the CPU that translated the code, not of the one that executes it (they take it for
 * a constant wherever CPUs take turns; seen in 10.0.13).
 *
 * A path that the table of points names has its windows between two points of the kernel
 * (points.h), as the counter has them. One that is open when its observation ends is not recorded
 * as whole.
 *
 * Arguments: ask=on   print the range of API versions that QEMU takes, and end QEMU
 *            points=N the inherited descriptor with the table of points; before any path
 *            skip=N   windows of each path to pass over
 *            bytes=N  stop a path's stream after so many bytes
 *            most=N   stop it if a window has more instructions
 *            alarm=N  the inherited descriptor that gets two bytes if a stream is stopped before a
 *                     window has ended: the number of its path, from 0, and why
 *            path=N   record the first execution of the path with this index. For each wanted path,
 *                     in the order of their executions, followed by:
 *            fd=N     the inherited descriptor to write to
 *            take=N   how many windows to record
 *            warm=N   begin markers after which points count; 0 without it
 */
#include "common.h"
#include "points.h"
#include "spots.h"

/* ---- State; under the exact clock, all vCPUs take turns on one thread ----------------------- */

struct code {			/* an instruction as it was when translated */
	uint64_t vaddr;
	void *haddr;
	uint8_t length;
	uint8_t bytes[MAX_LENGTH];
	uint32_t number;	/* in the stream of this job, ... */
	unsigned int job;	/* ... from 1, 0 if none has it yet */
	struct code *next;	/* in its bucket */
};

enum { BUCKETS = 1 << 16 };
enum { LONGEST_RECORD = 64 };

struct job {			/* a wanted path */
	uint64_t path, take, warm;
	int fd;
};

enum { MAX_JOBS = 64 };
static struct job jobs[MAX_JOBS];
static unsigned int job_count, current;	/* jobs[current] is next, or being recorded while armed */

static struct {			/* for every job */
	uint64_t skip, bytes_limit, window_limit;
} limits = { .bytes_limit = UINT64_MAX, .window_limit = UINT64_MAX };

static struct code *codes[BUCKETS];
static uint32_t code_count;

static int alarm_fd = -1;
static uint64_t windows_seen, windows_whole;
static bool armed, inside, instrumented;
static uint64_t begin_markers;	/* in this execution, of a path with points */
static bool begins_count;	/* between a begin marker and its end marker, for points */
static bool passed_over;	/* a window is open that began after one of the first markers */

static uint64_t executed;	/* in this window */
static int64_t last_number;	/* of the last instruction written, -1 if none in this window */
static int64_t run_first;	/* a run not yet written ... */
static uint64_t run_count;	/* ... empty if this is 0 */
static uint64_t last_address;

/* ---- Writing --------------------------------------------------------------------------------- */

enum tag { INSN = 1, BEGIN, END, RUN, LOAD, STORE, STOP, BEGIN_WHOLE, DROP, BEGIN_STAMPED };
enum why { ALL_RECORDED = 0, BYTE_LIMIT, WINDOW_LIMIT };

static void record(enum tag tag)
{
	reserve(LONGEST_RECORD);
	put(tag);
}

static void put_run(void)
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

/* Ends the stream of this job; the next one waits for its path. */
static void stop(enum why why)
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

/* Begins the stream of the next job: instructions are numbered anew. */
static void arm(void)
{
	static const uint8_t HEADER[8] = "PMTR\1";

	out.fd = jobs[current].fd;
	out.filled = out.written = 0;
	put_bytes(HEADER, sizeof(HEADER));
	windows_seen = windows_whole = 0;
	code_count = 0;
	armed = true;
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* The instruction's number in this stream, which defines it when it is first executed. */
static int64_t number_of(struct code *code)
{
	if (code->job == current + 1)
		return code->number;
	code->job = current + 1;
	code->number = code_count++;
	put_run();
	record(INSN);
	put_word(code->vaddr);
	/* The paddr is unknown. haddr differs from run to run; it only serves as key. */
	put_word(UINT64_MAX);
	put(code->length);
	put_bytes(code->bytes, code->length);
	return code->number;
}

static void on_instruction(unsigned int vcpu, void *data)
{
	int64_t number;

	(void)vcpu;
	if (!inside)
		return;
	number = number_of(data);
	if (run_count && number == run_first + (int64_t)run_count) {
		run_count++;
	} else {
		put_run();
		run_first = number;
		run_count = 1;
	}
	if (++executed > limits.window_limit)
		stop(WINDOW_LIMIT);
	else if (out.written > limits.bytes_limit)
		stop(BYTE_LIMIT);
}

static void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)data;
	points_access(address);
	if (!inside)
		return;
	put_run();
	record(qemu_plugin_mem_is_store(info) ? STORE : LOAD);
	put(qemu_plugin_mem_size_shift(info));
	put_signed((int64_t)(address - last_address));
	last_address = address;
}

/* Windows of this path to pass over: of one that has its windows between markers. */
static uint64_t skipped(void)
{
	return chosen ? 0 : limits.skip;
}

static void begin(void)
{
	if (!armed || windows_seen++ < skipped())
		return;
	inside = true;
	executed = run_count = last_address = 0;
	last_number = -1;
	if (!chosen)
		record(BEGIN);
	else
		record(windows_asked[__builtin_ctz(chosen)].stamped ? BEGIN_STAMPED : BEGIN_WHOLE);
	put_unsigned(windows_seen - 1 - skipped());
}

static void end(void)
{
	if (!inside)
		return;
	inside = false;
	windows_whole++;
	put_run();
	record(END);
	put_unsigned(windows_seen - 1 - skipped());
	if (windows_seen >= skipped() + jobs[current].take)
		stop(ALL_RECORDED);
}

/* The window that is open is none. */
static void drop(void)
{
	inside = false;
	windows_seen--;
	put_run();
	record(DROP);
}

static void on_begin(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (!chosen) {
		begin();
	} else {
		begin_markers++;
		begins_count = true;
		points_counted();
	}
}

static void on_end(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (!chosen) {
		end();
		return;
	}
	/* The second in a row ends the observation: what is open has no end. */
	if (!begins_count) {
		passed_over = false;
		if (inside)
			stop(ALL_RECORDED);
	}
	begins_count = false;
}

/* Control comes to a block of code. */
static void on_spot(unsigned int vcpu, void *data)
{
	struct passes passes = pass(data);

	(void)vcpu;
	if (!armed)
		return;
	if (passes.ends) {
		end();
		passed_over = false;
	}
	/* Its stream may have ended with this window. */
	if (!armed || !passes.begins || !begins_count)
		return;
	if ((inside || passed_over) && !begin_anew(passes.begins))
		return;
	if (inside)
		drop();
	points_opened(passes.begins);
	passed_over = begin_markers <= jobs[current].warm;
	if (!passed_over)
		begin();
}

/* ---- Translation ----------------------------------------------------------------------------- */

/* A path's execution begins, or the one before has ended: which, the next instruction tells. */
static void on_path(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (armed)		/* its path ended before all windows came */
		stop(ALL_RECORDED);
	choose_windows(0);
	begin_markers = 0;
	begins_count = passed_over = false;
}

/* The instruction after a path marker loads from so many bytes into a page. */
static void on_path_number(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	uint64_t path = path_of(address);

	(void)vcpu;
	(void)info;
	(void)data;
	if (current == job_count || path != jobs[current].path)
		return;
	arm();
	choose_windows(window_of_path(path));
	if (!instrumented)
		api->reset();
	instrumented = true;
}

static exec_cb_t *const on_marker[MARKERS] = {
	[BEGIN_MARKER] = on_begin, [END_MARKER] = on_end, [PATH_MARKER] = on_path,
};

/* The instruction's entry, made when it is new. Lives as long as QEMU. */
static struct code *intern(const struct qemu_plugin_insn *insn, const uint8_t *bytes, size_t length)
{
	uint64_t vaddr = qemu_plugin_insn_vaddr(insn);
	void *haddr = qemu_plugin_insn_haddr(insn);
	struct code **bucket = &codes[(vaddr * 0x9e3779b97f4a7c15u) >> 48];
	struct code *code;

	for (code = *bucket; code; code = code->next)
		if (code->vaddr == vaddr && code->haddr == haddr && code->length == length &&
		    !memcmp(code->bytes, bytes, length))
			return code;
	code = calloc(1, sizeof(*code));
	if (!code)
		abort();
	code->vaddr = vaddr;
	code->haddr = haddr;
	code->length = length;
	memcpy(code->bytes, bytes, length);
	code->next = *bucket;
	*bucket = code;
	return code;
}

static void translate_markers(struct qemu_plugin_tb *tb)
{
	uint8_t bytes[MAX_LENGTH];
	bool after_path = false;

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		enum marker mark = marker(bytes, bytes_of(insn, bytes));

		if (after_path)
			qemu_plugin_register_vcpu_mem_cb(insn, on_path_number, CB_NO_REGS, MEM_RW,
							 NULL);
		if (on_marker[mark])
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker[mark], CB_NO_REGS,
							       NULL);
		after_path = mark == PATH_MARKER;
	}
}

/* Has the instructions before which a window may begin or end announced. */
static void translate_spots(struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb), first = 0, next;

	for (; point_count && first < count; first = next) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, first);

		next = up_to_point(tb, first);
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_spot, CB_NO_REGS,
						       spot_between(tb, first, next));
	}
}

static void translate_all(struct qemu_plugin_tb *tb)
{
	uint8_t bytes[MAX_LENGTH];
	bool after_path = false;

	if (current == job_count)
		return;
	translate_spots(tb);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t length = bytes_of(insn, bytes);
		enum marker mark = marker(bytes, length);
		struct code *code;

		if (after_path)
			qemu_plugin_register_vcpu_mem_cb(insn, on_path_number, CB_NO_REGS, MEM_RW,
							 NULL);
		after_path = mark == PATH_MARKER;
		if (on_marker[mark]) {
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_marker[mark], CB_NO_REGS,
							       NULL);
			continue;
		}
		if (loads_stack(bytes, qemu_plugin_insn_vaddr(insn)))
			qemu_plugin_register_vcpu_mem_cb(insn, on_task_switch, CB_NO_REGS, MEM_RW,
							 NULL);
		code = intern(insn, bytes, length);
		qemu_plugin_register_vcpu_insn_exec_cb(insn, on_instruction, CB_NO_REGS, code);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW, code);
	}
}

static void after_reset(void)
{
	translate = translate_all;
	api->start();
}

/* ---- Start ----------------------------------------------------------------------------------- */

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
	       number(text, "warm", &job->warm);
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
	translate = translate_markers;
	api->start();
	return 0;
}

/*
 * The recorder: a QEMU plugin that writes down every instruction and memory access of the windows
 * of the wanted paths, a stream for each, in the format of docs/trace-format.md.
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
 * qemu.h has the plugin API, versions 1 to 7. The functions whose signature changed between
 * versions are in struct api; nothing else knows versions.
 *
 * Arguments: ask=on   print the range of API versions that QEMU takes, and end QEMU
 *            skip=N   windows of each path to pass over
 *            bytes=N  stop a path's stream after so many bytes
 *            most=N   stop it if a window has more instructions
 *            alarm=N  the inherited descriptor that gets two bytes if a stream is stopped before a
 *                     window has ended: the number of its path, from 0, and why
 *            path=N   record at the N-th path marker, from 0. For each wanted path, in this order,
 *                     followed by:
 *            fd=N     the inherited descriptor to write to
 *            take=N   how many windows to record
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qemu.h"

#define EXPORT __attribute__((visibility("default")))

/*
 * The API version that QEMU is told. The host writes the running QEMU's own number here before it
 * hands the plugin over (it looks for this value), since each QEMU takes a narrow range of them.
 */
EXPORT int qemu_plugin_version = 0x7ab1e001;

/* ---- State; under the exact clock, all vCPUs take turns on one thread ----------------------- */

enum { MAX_LENGTH = 15 };	/* of an x86 instruction */

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
enum { BUFFER = 1 << 16, LONGEST_RECORD = 64 };

struct job {			/* a wanted path */
	uint64_t path, take;
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
static uint64_t paths_seen, windows_seen, windows_whole;
static bool armed, inside, instrumented;

static uint8_t buffer[BUFFER];
static size_t filled;
static uint64_t written;

static uint64_t executed;	/* in this window */
static int64_t last_number;	/* of the last instruction written, -1 if none in this window */
static int64_t run_first;	/* a run not yet written ... */
static uint64_t run_count;	/* ... empty if this is 0 */
static uint64_t last_address;

/* ---- What depends on the API version --------------------------------------------------------- */

static qemu_plugin_id_t self;
static void (*translate)(struct qemu_plugin_tb *tb);	/* what is done with each new block */
static void after_reset(void);

struct api {
	int first;		/* version that has these signatures */
	void (*start)(void);	/* blocks go to translate() from now on */
	void (*reset)(void);	/* forgets all callbacks, then calls after_reset() */
	size_t (*copy)(const struct qemu_plugin_insn *insn, void *bytes, size_t length);
};

static void on_block_v1(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	translate(tb);
}

static void on_reset_v1(qemu_plugin_id_t id)
{
	(void)id;
	after_reset();
}

static void on_block_v7(struct qemu_plugin_tb *tb, void *data)
{
	(void)data;
	translate(tb);
}

static void on_reset_v7(void *data)
{
	(void)data;
	after_reset();
}

static void start_v1(void)
{
	register_trans_v1(self, on_block_v1);
}

static void start_v7(void)
{
	register_trans_v7(self, on_block_v7, NULL);
}

static void forget_v1(void)
{
	reset_v1(self, on_reset_v1);
}

static void forget_v7(void)
{
	reset_v7(self, on_reset_v7, NULL);
}

static size_t copy_v1(const struct qemu_plugin_insn *insn, void *bytes, size_t length)
{
	memcpy(bytes, insn_data_v1(insn), length);
	return length;
}

/* Newest first. */
static const struct api apis[] = {
	{ 7, start_v7, forget_v7, insn_data_v3 },
	{ 3, start_v1, forget_v1, insn_data_v3 },
	{ 1, start_v1, forget_v1, copy_v1 },
};
static const struct api *api;	/* of the QEMU that loaded us */

/* The one of the version that this plugin claims, which is what QEMU holds it to. */
static const struct api *api_of(int version)
{
	const struct api *found = apis;

	while (found->first > version && found->first > 1)
		found++;
	return found;
}

/* ---- Writing --------------------------------------------------------------------------------- */

enum tag { INSN = 1, BEGIN, END, RUN, LOAD, STORE, STOP };
enum why { ALL_RECORDED = 0, BYTE_LIMIT, WINDOW_LIMIT };

/* A reader that went away gets nothing more; the host decides what becomes of that. */
static void flush(void)
{
	size_t done = 0;

	while (done < filled) {
		ssize_t count = write(jobs[current].fd, buffer + done, filled - done);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			break;
		done += count;
	}
	written += filled;
	filled = 0;
}

static void put(uint8_t byte)
{
	buffer[filled++] = byte;
}

static void put_unsigned(uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(value | 0x80);
	put(value);
}

static void put_signed(int64_t value)
{
	put_unsigned(((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static void put_word(uint64_t value)
{
	memcpy(buffer + filled, &value, sizeof(value));
	filled += sizeof(value);
}

static void record(enum tag tag)
{
	if (filled + LONGEST_RECORD > BUFFER)
		flush();
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
	close(jobs[current].fd);
	if (why != ALL_RECORDED && !windows_whole)
		raise_alarm(why);
	current++;
	armed = inside = false;
}

/* Begins the stream of the next job: instructions are numbered anew. */
static void arm(void)
{
	static const uint8_t HEADER[8] = "PMTR\1";

	memcpy(buffer, HEADER, sizeof(HEADER));
	filled = sizeof(HEADER);
	written = windows_seen = windows_whole = 0;
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
	memcpy(buffer + filled, code->bytes, code->length);
	filled += code->length;
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
	else if (written > limits.bytes_limit)
		stop(BYTE_LIMIT);
}

static void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *data)
{
	(void)vcpu;
	(void)data;
	if (!inside)
		return;
	put_run();
	record(qemu_plugin_mem_is_store(info) ? STORE : LOAD);
	put(qemu_plugin_mem_size_shift(info));
	put_signed((int64_t)(address - last_address));
	last_address = address;
}

static void on_begin(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (!armed || windows_seen++ < limits.skip)
		return;
	inside = true;
	executed = run_count = last_address = 0;
	last_number = -1;
	record(BEGIN);
	put_unsigned(windows_seen - 1 - limits.skip);
}

static void on_end(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (!inside)
		return;
	inside = false;
	windows_whole++;
	put_run();
	record(END);
	put_unsigned(windows_seen - 1 - limits.skip);
	if (windows_seen >= limits.skip + jobs[current].take)
		stop(ALL_RECORDED);
}

/* ---- Translation ----------------------------------------------------------------------------- */

static void on_path(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (armed)		/* its path ended before all windows came */
		stop(ALL_RECORDED);
	if (current == job_count || paths_seen++ != jobs[current].path)
		return;
	arm();
	if (!instrumented)
		api->reset();
	instrumented = true;
}

/* The marker: nopl disp32(%rax,%rax,1), which nothing else uses with these displacements. */
static const uint8_t MARKER[] = { 0x0f, 0x1f, 0x84, 0x00 };
enum { MARKER_LENGTH = 8, MARKER_MAGIC = 0x504d };
enum { KINDS = 4 };
static exec_cb_t *const on_marker[KINDS] = { NULL, on_begin, on_end, on_path };

static exec_cb_t *marker(const uint8_t *bytes, size_t length)
{
	uint32_t value;

	if (length != MARKER_LENGTH || memcmp(bytes, MARKER, sizeof(MARKER)))
		return NULL;
	memcpy(&value, bytes + sizeof(MARKER), sizeof(value));
	if (value >> 16 != MARKER_MAGIC || (value >> 8 & 0xff) >= KINDS)
		return NULL;
	return on_marker[value >> 8 & 0xff];
}

static size_t bytes_of(const struct qemu_plugin_insn *insn, uint8_t *bytes)
{
	size_t length = qemu_plugin_insn_size(insn);

	if (length > MAX_LENGTH)
		length = MAX_LENGTH;
	return api->copy(insn, bytes, length);
}

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

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		exec_cb_t *cb = marker(bytes, bytes_of(insn, bytes));

		if (cb)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, CB_NO_REGS, NULL);
	}
}

static void translate_all(struct qemu_plugin_tb *tb)
{
	uint8_t bytes[MAX_LENGTH];

	if (current == job_count)
		return;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		size_t length = bytes_of(insn, bytes);
		exec_cb_t *cb = marker(bytes, length);
		struct code *code;

		if (cb) {
			qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, CB_NO_REGS, NULL);
			continue;
		}
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
	const char *equals = strchr(text, '=');
	uint64_t value = equals ? strtoull(equals + 1, NULL, 10) : 0;
	size_t length = equals ? (size_t)(equals - text) : 0;
	const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {
		{ "skip", &limits.skip },
		{ "bytes", &limits.bytes_limit },
		{ "most", &limits.window_limit },
		{ "take", &job->take },
	};

	if (length == 4 && !strncmp(text, "path", 4)) {
		if (job_count == MAX_JOBS)
			return false;
		jobs[job_count++] = (struct job){ .path = value, .take = 1, .fd = -1 };
		return true;
	}
	if (length == 2 && !strncmp(text, "fd", 2)) {
		job->fd = (int)value;
		return value > 2;
	}
	if (length == 5 && !strncmp(text, "alarm", 5)) {
		alarm_fd = (int)value;
		return value > 2;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		if (length == strlen(numbers[i].name) && !strncmp(text, numbers[i].name, length)) {
			*numbers[i].value = value;
			return true;
		}
	}
	return false;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	if (argc == 1 && !strcmp(argv[0], "ask=on")) {
		/* Read by crates/vm/src/plugin.rs. */
		printf("recorder: %d %d\n", info->version.min, info->version.cur);
		fflush(stdout);
		return -1;
	}
	for (int i = 0; i < argc; i++) {
		if (!argument(argv[i])) {
			fprintf(stderr, "recorder: argument %s is unknown\n", argv[i]);
			return -1;
		}
	}
	if (strcmp(info->target_name, "x86_64") || !info->system_emulation || !job_count) {
		fprintf(stderr, "recorder: needs qemu-system-x86_64 and path=N\n");
		return -1;
	}
	self = id;
	api = api_of(qemu_plugin_version);
	translate = translate_markers;
	api->start();
	return 0;
}

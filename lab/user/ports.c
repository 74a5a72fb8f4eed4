/*
 * I/O ports: every program may use just what it asked for, whatever other programs may, before and
 * after switches, forks, execs and exits, on every CPU.
 *
 * Some workers, each with ports of its own, do as the test tells them through pipes; a model holds
 * what each may access. The test has ports of its own too: else every switch would come from or go
 * to a task without. A step changes something or moves a worker to another CPU, then some workers
 * try some ports. A bit left over from another task would show as an access allowed that the model
 * forbids.
 */
#include "tests.h"

#define WORKERS 4
#define PORTS 65536
#define SHORT_PORTS 1024 /* iobitmap=short */

/* Ports tried, from `first` to below `ports`: from 0x1000 up no device is there, and 0x80 is for
 * diagnostics. Of the first 1,024 those from 0x100 on, to where the serial line's begin. */
static unsigned first = 0x1000, ports = PORTS;

enum command { ALLOW, DENY, IOPL, TRY, TRY_WORD, MOVE, FORK, EXEC, YIELD, QUIT };

struct request {
	uint32_t command, from, count;
};

struct worker {
	int to, back;       /* pipe ends */
	uint8_t *allowed;   /* the model: a bit a port */
	int iopl;
	unsigned cpu;
};

static struct worker workers[WORKERS];
static uint8_t *own; /* the test's own ports */

static void bit_set(uint8_t *bits, unsigned from, unsigned count, int on)
{
	for (unsigned port = from; port < from + count; port++)
		bits[port / 8] = (uint8_t)(on ? bits[port / 8] | 1 << port % 8
					      : bits[port / 8] & ~(1 << port % 8));
}

static int may(const struct worker *worker, unsigned port)
{
	return worker->iopl || (port < ports && worker->allowed[port / 8] >> port % 8 & 1);
}

/* The worker's answer: a status or the signal that a port access raised. */
static int obey(const struct request *request, char **argv)
{
	char *const again[] = { "/init", "port-worker", argv[2], argv[3], NULL };
	char *const none[] = { NULL };
	long child;

	switch (request->command) {
	case ALLOW:
	case DENY:
		return (int)sys(SYS_ioperm, request->from, request->count,
				request->command == ALLOW);
	case IOPL:
		return (int)sys(SYS_iopl, request->from);
	case TRY:
		return try_port((uint16_t)request->from);
	case TRY_WORD:
		return try_port_word((uint16_t)request->from);
	case MOVE:
		return pin(request->from);
	case YIELD:
		return (int)sys(SYS_sched_yield);
	case FORK: /* the child goes on in the parent's place */
		child = sys(SYS_fork);
		if (child)
			quit(0);
		return 0;
	case EXEC: /* answers when it runs again */
		sys(SYS_execve, "/init", again, none);
		return -1;
	default:
		quit(0);
	}
}

int port_worker(char **argv)
{
	int in = (int)parse_number(argv[2]), out = (int)parse_number(argv[3]);
	struct request request;
	int answer = 0;

	/* Begun by exec, it reports for the request that made it. */
	sys(SYS_write, out, &answer, sizeof(answer));
	while (sys(SYS_read, in, &request, sizeof(request)) == sizeof(request)) {
		answer = obey(&request, argv);
		sys(SYS_write, out, &answer, sizeof(answer));
	}
	return 0;
}

static int hear(struct worker *worker)
{
	int answer = -1000;

	expect_equal(sys(SYS_read, worker->back, &answer, sizeof(answer)), sizeof(answer));
	return answer;
}

static int ask(struct worker *worker, enum command command, unsigned from, unsigned count)
{
	struct request request = { command, from, count };

	expect_equal(sys(SYS_write, worker->to, &request, sizeof(request)), sizeof(request));
	return hear(worker);
}

static void number_text(char *text, int number)
{
	text[0] = (char)('0' + number / 10);
	text[1] = (char)('0' + number % 10);
	text[2] = 0;
}

static void hire(struct worker *worker)
{
	int there[2], back[2];
	char in[4], out[4];
	char *const argv[] = { "/init", "port-worker", in, out, NULL };
	char *const none[] = { NULL };

	expect_equal(sys(SYS_pipe, there), 0);
	expect_equal(sys(SYS_pipe, back), 0);
	if (sys(SYS_fork) == 0) {
		number_text(in, there[0]);
		number_text(out, back[1]);
		sys(SYS_close, there[1]);
		sys(SYS_close, back[0]);
		sys(SYS_execve, "/init", argv, none);
		quit(1);
	}
	sys(SYS_close, there[0]);
	sys(SYS_close, back[1]);
	worker->to = there[1];
	worker->back = back[0];
	worker->allowed = map_pages(PORTS / 8, MAP_PRIVATE);
	worker->iopl = 0;
	expect_equal(hear(worker), 0);
}

/* A worker ends, and another takes its place: with no ports. */
static void replace(struct worker *worker)
{
	struct request request = { QUIT, 0, 0 };

	sys(SYS_write, worker->to, &request, sizeof(request));
	sys(SYS_close, worker->to);
	sys(SYS_close, worker->back);
	sys(SYS_munmap, worker->allowed, PORTS / 8);
	hire(worker);
}

static unsigned some_port(struct random *random)
{
	/* The ends of bytes, words and of all are where mistakes live. */
	const unsigned edges[] = {
		first, ports / 2 - 1, ports / 2, ports - 9, ports - 8, ports - 2, ports - 1,
	};

	if (random_below(random, 4) == 0)
		return edges[random_below(random, sizeof(edges) / sizeof(edges[0]))];
	return first + (unsigned)random_below(random, ports - first);
}

static void change(struct worker *worker, struct random *random)
{
	unsigned from = some_port(random);
	unsigned count = 1 + (unsigned)random_below(random, random_below(random, 8) ? 20 : 4000);

	if (from + count > ports)
		count = ports - from;
	switch (random_below(random, 16)) {
	case 0:
	case 1:
	case 2:
	case 3:
	case 4:
		expect_equal(ask(worker, ALLOW, from, count), 0);
		bit_set(worker->allowed, from, count, 1);
		break;
	case 5:
	case 6:
	case 7:
		expect_equal(ask(worker, DENY, from, count), 0);
		bit_set(worker->allowed, from, count, 0);
		break;
	case 8:
		worker->iopl = random_below(random, 2) ? 3 : 0;
		expect_equal(ask(worker, IOPL, (unsigned)worker->iopl, 0), 0);
		break;
	case 9:
		expect_equal(ask(worker, FORK, 0, 0), 0);
		break;
	case 10:
		expect_equal(ask(worker, EXEC, 0, 0), 0);
		memset(worker->allowed, 0, PORTS / 8);
		worker->iopl = 0;
		break;
	case 11:
		replace(worker);
		break;
	case 12:
	case 13:
		expect_equal(ask(worker, MOVE, (unsigned)random_below(random, cpus()), 0), 0);
		break;
	default:
		expect_equal(ask(worker, YIELD, 0, 0), 0);
	}
}

/* The test itself takes ports, or gives some or all back. */
static void change_own(struct random *random)
{
	unsigned from = some_port(random);

	switch (random_below(random, 3)) {
	case 0:
		expect_equal(sys(SYS_ioperm, from, 1, 1), 0);
		bit_set(own, from, 1, 1);
		break;
	case 1:
		expect_equal(sys(SYS_ioperm, from, 1, 0), 0);
		bit_set(own, from, 1, 0);
		break;
	default:
		expect_equal(sys(SYS_ioperm, first, ports - first, 0), 0);
		memset(own, 0, PORTS / 8);
	}
}

static void check_own(unsigned port, unsigned long step)
{
	int wanted = own[port / 8] >> port % 8 & 1 ? 0 : SIGSEGV;
	int got = try_port((uint16_t)port);

	if (got != wanted)
		fail(__FILE__, __LINE__, "step %lu: the test itself, port 0x%x: signal %d, not %d",
		     step, port, got, wanted);
}

static void check(struct worker *worker, unsigned index, unsigned port, unsigned long step)
{
	int wanted = may(worker, port) ? 0 : SIGSEGV;
	int got = ask(worker, TRY, port, 0);

	if (got != wanted)
		fail(__FILE__, __LINE__, "step %lu: worker %u, port 0x%x: signal %d, not %d", step,
		     index, port, got, wanted);
	/* Two ports at once: both bits count, and after the last port there is a byte of ones. */
	wanted = may(worker, port) && may(worker, port + 1) ? 0 : SIGSEGV;
	got = ask(worker, TRY_WORD, port, 0);
	if (got != wanted)
		fail(__FILE__, __LINE__, "step %lu: worker %u, word at 0x%x: signal %d, not %d",
		     step, index, port, got, wanted);
}

static int is_short(void)
{
	return strstr(command_line(), "iobitmap=short") != NULL;
}

static void ports_match_the_model(void)
{
	struct random random = { (uint64_t)option("test.seed", 2004) * 2 + 1 };
	unsigned long steps = (unsigned long)option("test.steps", 500);

	if (is_short()) {
		first = 0x100;
		ports = 0x3f0;
	}
	own = map_pages(PORTS / 8, MAP_PRIVATE);
	for (unsigned i = 0; i < WORKERS; i++)
		hire(&workers[i]);
	for (unsigned long step = 0; step < steps; step++) {
		unsigned changed = (unsigned)random_below(&random, WORKERS);
		unsigned other = (unsigned)random_below(&random, WORKERS);
		unsigned port;

		change(&workers[changed], &random);
		if (random_below(&random, 4) == 0)
			change_own(&random);
		port = some_port(&random);
		check(&workers[changed], changed, port, step);
		/* The same port in another: a leftover of the first would show here. */
		check(&workers[other], other, port, step);
		check_own(port, step);
	}
	for (unsigned i = 0; i < WORKERS; i++)
		sys(SYS_close, workers[i].to);
}

static void wrong_ranges_are_refused(void)
{
	expect_equal(sys(SYS_ioperm, 65536, 1, 1), -EINVAL);
	expect_equal(sys(SYS_ioperm, 65535, 2, 1), -EINVAL);
	expect_equal(sys(SYS_ioperm, -1l, 2, 1), -EINVAL);
	expect_equal(sys(SYS_ioperm, 0, 0, 1), -EINVAL);
	expect_equal(sys(SYS_iopl, 4), -EINVAL);
}

/* Before 2.6.8 a program that needs a port from 1,024 on is refused; the last below is not. */
static void ports_beyond_a_short_bitmap_are_refused(void)
{
	long beyond = is_short() ? -EINVAL : 0;

	for (int on = 0; on < 2; on++) {
		expect_equal(sys(SYS_ioperm, SHORT_PORTS - 1, 1, on), 0);
		expect_equal(sys(SYS_ioperm, SHORT_PORTS - 1, 2, on), beyond);
		expect_equal(sys(SYS_ioperm, SHORT_PORTS, 1, on), beyond);
		expect_equal(sys(SYS_ioperm, PORTS - 1, 1, on), beyond);
	}
	expect_equal(try_port(SHORT_PORTS - 1), 0);
	expect_equal(try_port(PORTS - 1), is_short() ? SIGSEGV : 0);
	expect_equal(sys(SYS_ioperm, 0, SHORT_PORTS, 0), 0);
	expect_equal(try_port(SHORT_PORTS - 1), SIGSEGV);
}

/* A child has the parent's ports as they were at the fork; later changes are each one's own. */
static void change_and_yield(void *unused)
{
	(void)unused;
	expect_equal(try_port(0x80), 0);
	expect_equal(sys(SYS_ioperm, 0x80, 1, 0), 0);
	expect_equal(sys(SYS_ioperm, 0x81, 1, 1), 0);
	expect_equal(try_port(0x80), SIGSEGV);
	expect_equal(try_port(0x81), 0);
}

static void a_child_inherits_ports(void)
{
	expect_equal(sys(SYS_ioperm, 0x80, 1, 1), 0);
	expect(exited(in_child(change_and_yield, NULL), 0));
	expect_equal(try_port(0x80), 0);
	expect_equal(try_port(0x81), SIGSEGV);
	expect_equal(sys(SYS_ioperm, 0x80, 1, 0), 0);
	expect_equal(try_port(0x80), SIGSEGV);
}

static void no_port_unasked(void)
{
	expect_equal(try_port(0x80), SIGSEGV);
	expect_equal(sys(SYS_ioperm, 0x80, 1, 1), 0);
	expect_equal(try_port(0x80), 0);
	expect_equal(try_port(0x81), SIGSEGV);
	expect_equal(sys(SYS_ioperm, 0x80, 1, 0), 0);
	expect_equal(try_port(0x80), SIGSEGV);
}

const struct test port_tests[] = {
	{ "ports.none-unasked", no_port_unasked },
	{ "ports.wrong-ranges", wrong_ranges_are_refused },
	{ "ports.short", ports_beyond_a_short_bitmap_are_refused },
	{ "ports.inherited", a_child_inherits_ports },
	{ "ports.match-the-model", ports_match_the_model },
	{ 0 },
};

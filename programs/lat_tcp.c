/*
 * lat_tcp: one byte to another process and back, by TCP over the loopback interface.
 *
 * From: Ingo Molnar, linux-kernel, 26 May 2001: "[patch] severe softirq handling performance bug,
 * fix, 2.4.5" (pathmeter experiment softirq-2001). Its latencies are those of lmbench's lat_tcp,
 * between two machines. This program, written anew, does the same between two processes of one:
 * the softirq that the network card's interrupt raised there, the loopback interface raises here.
 *
 *	cc -O2 -static -I../include -o lat_tcp lat_tcp.c
 *	pathmeter run KERNEL -- ./lat_tcp
 *
 * Region: round-trip, from the write of the byte to the read of its echo, in both processes.
 * Prints the mean of its own clock's readings, as lat_tcp does.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pathmeter.h"
#include "times.h"

enum { WARM_UPS = 10, ROUND_TRIPS = 100, CALLS = 1000 };

/* A socket on a free port of the loopback interface. */
static int listening(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET };
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)address, sizeof(*address)) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)address, &length))
		err(1, "a TCP socket on the loopback interface");
	return fd;
}

static void send_at_once(int fd)
{
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int)))
		err(1, "TCP_NODELAY");
}

/* Sends each byte back until the other side closes. */
static _Noreturn void echo(int listener)
{
	int fd = accept(listener, NULL, NULL);
	char byte;

	if (fd < 0)
		err(1, "accept");
	send_at_once(fd);
	while (read(fd, &byte, 1) == 1)
		if (write(fd, &byte, 1) != 1)
			err(1, "the echo");
	_exit(0);
}

/* How often packets were received by softirq so far, on all CPUs; -1 if that can't be read. */
static long received(void)
{
	FILE *file = fopen("/proc/softirqs", "re");
	char line[4096], name[16];
	long sum = -1;

	while (file && fgets(line, sizeof(line), file)) {
		char *at = line, *end;
		int length = 0;

		if (sscanf(line, "%15s%n", name, &length) != 1 || strcmp(name, "NET_RX:"))
			continue;
		for (sum = 0, at += length; ; at = end) {
			sum += strtol(at, &end, 10);
			if (end == at)
				break;
		}
	}
	if (file)
		fclose(file);
	return sum;
}

/* One byte there and back; whether it is the same. */
static int round_trip(int fd, char byte)
{
	char echoed = ~byte;
	ssize_t sent, got;

	pathmeter_begin("round-trip");
	sent = write(fd, &byte, 1);
	got = read(fd, &echoed, 1);
	pathmeter_end("round-trip");
	return pathmeter_expect(sent == 1 && got == 1 && echoed == byte);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e6 + time.tv_nsec / 1e3;
}

/* Whether all went well. */
static int measure(int fd)
{
	long before, softirqs;
	int echoed = 0;
	double begin;

	for (int i = 0; i < WARM_UPS; i++) {
		char byte = i;

		if (write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1)
			err(1, "the first bytes");
	}
	before = received();
	begin = now();
	for (int i = 0; i < ROUND_TRIPS; i++)
		echoed += round_trip(fd, i);
	printf("TCP latency using localhost: %.4f microseconds\n", (now() - begin) / ROUND_TRIPS);
	softirqs = received() - before;
	TIMES("round-trip", CALLS, round_trip(fd, 0));
	if (before < 0)
		fprintf(stderr, "no /proc/softirqs: whether softirqs ran is not checked\n");
	/* Each byte is received in a softirq: there, and back. */
	return echoed == ROUND_TRIPS &&
	       (before < 0 || pathmeter_expect(softirqs >= 2 * ROUND_TRIPS));
}

int main(void)
{
	struct sockaddr_in address;
	int listener = listening(&address), fd, good, status;
	pid_t partner = fork();

	if (partner < 0)
		err(1, "fork");
	if (partner == 0)
		echo(listener);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "connect");
	send_at_once(fd);
	good = measure(fd);
	close(fd);
	if (waitpid(partner, &status, 0) != partner || status)
		errx(1, "the partner failed");
	return !good;
}

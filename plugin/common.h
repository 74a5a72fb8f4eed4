/*
 * What the plugins share: QEMU's API by its versions, the probes' markers, and writing a stream.
 *
 * qemu.h has the plugin API, versions 1 to 7. The functions whose signature changed between
 * versions are in struct api; nothing else knows versions. A plugin includes this file once,
 * defines after_reset(), and sets `translate` before it calls api->start().
 */
#ifndef PLUGIN_COMMON_H
#define PLUGIN_COMMON_H

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

enum { MAX_LENGTH = 15 };	/* of an x86 instruction */
enum { LARGEST_BLOCK = 512 };	/* instructions; QEMU's TCG_MAX_INSNS */

/* ---- What depends on the API version --------------------------------------------------------- */

static qemu_plugin_id_t self;
static void (*translate)(struct qemu_plugin_tb *tb);	/* what is done with each new block */
static void after_reset(void);	/* called when all callbacks are forgotten */

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

/* The instruction's bytes, into an array of MAX_LENGTH; returns how many there are. */
static size_t bytes_of(const struct qemu_plugin_insn *insn, uint8_t *bytes)
{
	size_t length = qemu_plugin_insn_size(insn);

	if (length > MAX_LENGTH)
		length = MAX_LENGTH;
	return api->copy(insn, bytes, length);
}

/*
 * Whether QEMU may have taken the instruction at this address, at the end of a block, back: one
 * that goes on in another page begins a block of its own, and is announced to plugins in both
 * (target/i386/tcg/translate.c, i386_tr_translate_insn). So nothing may be counted with it.
 */
static inline bool may_be_taken_back(uint64_t address)
{
	return (address & 4095) + MAX_LENGTH > 4096;
}

/* ---- Markers --------------------------------------------------------------------------------- */

/* A marker is a nopl disp32(%rax,%rax,1), which nothing else uses with these displacements. */
enum marker {
	NO_MARKER,
	BEGIN_MARKER, END_MARKER,	/* of a window of a path */
	PATH_MARKER,
	PROGRAM_BEGIN_MARKER, PROGRAM_END_MARKER,	/* of a run of the user's program */
	REGION_BEGIN_MARKER, REGION_END_MARKER,	/* of a region of it: include/pathmeter.h */
	EXPECTED_MARKER, UNEXPECTED_MARKER,	/* what it expected of a region held, or did not */
	MARKERS
};

static enum marker marker(const uint8_t *bytes, size_t length)
{
	static const uint8_t CODE[] = { 0x0f, 0x1f, 0x84, 0x00 };
	enum { LENGTH = 8, MAGIC = 0x504d };
	uint32_t value;

	if (length != LENGTH || memcmp(bytes, CODE, sizeof(CODE)))
		return NO_MARKER;
	memcpy(&value, bytes + sizeof(CODE), sizeof(value));
	if (value >> 16 != MAGIC || (value >> 8 & 0xff) >= MARKERS)
		return NO_MARKER;
	return value >> 8 & 0xff;
}

/*
 * The instruction after a path marker loads a byte of a page, as far from its beginning as the
 * path's index; NO_PATH: the last one has ended (crates/probes/src/clock.rs).
 */
enum { NO_PATH = 0xfff };

static inline uint64_t path_of(uint64_t address)
{
	return address & 0xfff;
}

/* ---- Writing --------------------------------------------------------------------------------- */

enum { BUFFER = 1 << 16 };

static struct {
	int fd;
	size_t filled;
	uint64_t written;		/* bytes, without those in the buffer */
	uint8_t buffer[BUFFER];
} out = { .fd = -1 };

/* A reader that went away gets nothing more; the host decides what becomes of that. */
static void flush(void)
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

/* Sees to it that `length` bytes fit. */
static void reserve(size_t length)
{
	if (out.filled + length > BUFFER)
		flush();
}

static void put(uint8_t byte)
{
	out.buffer[out.filled++] = byte;
}

static void put_bytes(const void *bytes, size_t length)
{
	memcpy(out.buffer + out.filled, bytes, length);
	out.filled += length;
}

static void put_unsigned(uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(value | 0x80);
	put(value);
}

static inline void put_signed(int64_t value)
{
	put_unsigned(((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static inline void put_word(uint64_t value)
{
	put_bytes(&value, sizeof(value));
}

/* ---- Start ----------------------------------------------------------------------------------- */

/* Answers crates/vm/src/plugin.rs, if it asks for the range of API versions that QEMU takes. */
static bool asked(const qemu_info_t *info, int argc, char **argv)
{
	if (argc != 1 || strcmp(argv[0], "ask=on"))
		return false;
	printf("recorder: %d %d\n", info->version.min, info->version.cur);
	fflush(stdout);
	return true;
}

/* Whether `text` is `NAME=value`; `value` is set if it is. */
static bool number(const char *text, const char *name, uint64_t *value)
{
	size_t length = strlen(name);

	if (strncmp(text, name, length) || text[length] != '=')
		return false;
	*value = strtoull(text + length + 1, NULL, 10);
	return true;
}

/* Takes the API of the version that this plugin was given; false in another machine than ours. */
static bool install(qemu_plugin_id_t id, const qemu_info_t *info)
{
	if (strcmp(info->target_name, "x86_64") || !info->system_emulation) {
		fprintf(stderr, "pathmeter's plugin needs qemu-system-x86_64\n");
		return false;
	}
	self = id;
	api = api_of(qemu_plugin_version);
	return true;
}

#endif

/*
 * The plugin API by its versions: the functions whose signature changed are in struct api.
 */
#include "common/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/linkage.h"

/*
 * The API version that QEMU is told. The host writes the running QEMU's own number here before it
 * hands the plugin over (it looks for this value), since each QEMU takes a narrow range of them.
 */
EXPORT int qemu_plugin_version = 0x7ab1e001;

static qemu_plugin_id_t self;
static translation_t *translate;

struct api {
	int first;		/* version that has these signatures */
	void (*start)(void);	/* blocks go to translate() from now on */
	void (*reset)(void);	/* forgets all callbacks, then starts */
	size_t (*copy)(const struct qemu_plugin_insn *insn, void *bytes, size_t length);
};

static void on_block_v1(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	translate(tb);
}

static void start_v1(void)
{
	register_trans_v1(self, on_block_v1);
}

static void on_reset_v1(qemu_plugin_id_t id)
{
	(void)id;
	start_v1();
}

static void on_block_v7(struct qemu_plugin_tb *tb, void *data)
{
	(void)data;
	translate(tb);
}

static void start_v7(void)
{
	register_trans_v7(self, on_block_v7, NULL);
}

static void on_reset_v7(void *data)
{
	(void)data;
	start_v7();
}

static void reset_by_v1(void)
{
	reset_v1(self, on_reset_v1);
}

static void reset_by_v7(void)
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
	{ 7, start_v7, reset_by_v7, insn_data_v3 },
	{ 3, start_v1, reset_by_v1, insn_data_v3 },
	{ 1, start_v1, reset_by_v1, copy_v1 },
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

bool install(qemu_plugin_id_t id, const qemu_info_t *info)
{
	if (strcmp(info->target_name, TARGET) || !info->system_emulation) {
		fprintf(stderr, "pathmeter's plugin needs qemu-system-" TARGET "\n");
		return false;
	}
	self = id;
	api = api_of(qemu_plugin_version);
	return true;
}

void begin_translation(translation_t *translation)
{
	translate = translation;
	api->start();
}

void begin_translation_anew(translation_t *translation)
{
	translate = translation;
	api->reset();
}

static void never_called(void)
{
}

void give_cpus_work(void)
{
	static bool added;

	added = !added;
	qemu_plugin_register_vcpu_syscall_cb(self, added ? never_called : NULL, NULL);
}

struct instruction instruction_of(const struct qemu_plugin_insn *insn)
{
	size_t length = qemu_plugin_insn_size(insn);
	struct instruction instruction = { 0 };

	if (length > MAX_LENGTH)
		length = MAX_LENGTH;
	instruction.length = api->copy(insn, instruction.bytes, length);
	return instruction;
}

bool asked(const qemu_info_t *info, int argc, char **argv)
{
	if (argc != 1 || strcmp(argv[0], "ask=on"))
		return false;
	printf("recorder: %d %d\n", info->version.min, info->version.cur);
	fflush(stdout);
	return true;
}

bool number(const char *text, const char *name, uint64_t *value)
{
	size_t length = strlen(name);

	if (strncmp(text, name, length) || text[length] != '=')
		return false;
	*value = strtoull(text + length + 1, NULL, 10);
	return true;
}

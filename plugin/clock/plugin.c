/*
 * The clock: a QEMU plugin that does nothing but keep the guest's clock right (common/halt.h), for
 * guests that no other plugin observes, such as one that boots to be saved.
 *
 * Loading it changes no count: callbacks are not guest instructions.
 *
 * Arguments: ask=on   print the range of API versions that QEMU takes, and end QEMU
 */
#include "common/api.h"
#include "common/halt.h"
#include "common/linkage.h"
#include "common/qemu.h"

static void translate_halts(struct qemu_plugin_tb *tb)
{
	keep_clock_right(tb);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	if (asked(info, argc, argv) || !install(id, info))
		return -1;
	begin_translation(translate_halts);
	return 0;
}

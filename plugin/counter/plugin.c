/*
 * The counter: a QEMU plugin that counts, for every window of every path, which blocks of code
 * were executed how often and what memory they touched, in the format of
 * docs/reference/count-format.md. What an instruction is, and so what kind of event, the host
 * decides (crates/trace). pieces.h has the blocks, exits.h how control leaves one, window.h what a
 * window counts and how it is written, observation.h when one begins and ends, translation.h what
 * QEMU is told to call where; here is where the plugin starts.
 *
 * A window lasts from the program's first rdtsc after its begin marker up to its last one before
 * its end marker, that is, from stamp to stamp. Loading the plugin changes no count: callbacks are
 * not guest instructions.
 *
 * A path that the table of points names is measured between two points of the kernel instead
 * (kernel/points.h): a window begins at the one, if that comes between the path's begin and end
 * marker, and lasts up to the other, however late that comes. At the second end marker in a row, or
 * when the path has ended, a window that is open is told as one that had no end.
 *
 * Arguments: ask=on    print the range of API versions that QEMU takes, and end QEMU
 *            fd=N      the inherited descriptor to write to
 *            points=N  the inherited descriptor with the table of points; none without it
 */
#include <stdint.h>
#include <stdio.h>

#include "common/api.h"
#include "common/linkage.h"
#include "common/qemu.h"
#include "common/steps.h"
#include "common/stream.h"
#include "counter/translation.h"
#include "kernel/points.h"

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	static const uint8_t HEADER[8] = "PMCT\5";
	uint64_t fd = 0, table = 0;

	if (asked(info, argc, argv))
		return -1;
	for (int i = 0; i < argc; i++)
		if (!number(argv[i], "fd", &fd) && !number(argv[i], "points", &table))
			fd = 0;
	if (fd < 3) {
		fprintf(stderr, "counter: needs fd=N, and takes points=N\n");
		return -1;
	}
	if (table && !read_points((int)table)) {
		fprintf(stderr, "counter: the table of points can't be read\n");
		return -1;
	}
	if (!install(id, info))
		return -1;
	make_counters(info);
	out.fd = (int)fd;
	put_bytes(HEADER, sizeof(HEADER));
	flush();
	begin_translation(translate_markers);
	return 0;
}

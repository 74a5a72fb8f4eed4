/*
 * The program plugin: splits every instruction of a run of the user's program into rows: its own
 * code, each system call, faults, interrupts, kernel threads; in the format of
 * docs/reference/program-format.md. It leaves the guest untouched: what it knows it sees in the
 * code that is executed. account.h has the rules, flow.h the boundaries, translation.h what QEMU is
 * told to call where; here are the arguments.
 *
 * Where the kernel is entered and left is known by its symbols (places.h). The number of a system
 * call stands in a register, which this API does not show; its name is that of the first system
 * call's function that is executed in it.
 *
 * Arguments: fd=N      the inherited descriptor to write to
 *            places=N  the one to read the table of places from
 *            ram=N     bytes of the guest's RAM
 *            classes=N  the one with the table of classes of instructions (classes.h)
 *            points=N  the one with the table of points (kernel/points.h); none without it
 *            lines=1   count the lines of data that the kernel touches as well
 *            functions=1  tell what each row executed in each block of the kernel's code as well
 */
#include <stdint.h>
#include <stdio.h>

#include "common/api.h"
#include "common/linkage.h"
#include "common/qemu.h"
#include "common/steps.h"
#include "common/stream.h"
#include "kernel/passage.h"
#include "kernel/points.h"
#include "kernel/ram.h"
#include "program/call_tree.h"
#include "program/cells.h"
#include "program/classes.h"
#include "program/lines.h"
#include "program/places.h"
#include "program/translation.h"

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	static const uint8_t HEADER[8] = "PMPR\7";
	uint64_t fd = 0, table = 0, points_fd = 0, classes_fd = 0;

	if (asked(info, argc, argv))
		return -1;
	for (int i = 0; i < argc; i++)
		if (!number(argv[i], "fd", &fd) && !number(argv[i], "places", &table) &&
		    !number(argv[i], "points", &points_fd) &&
		    !number(argv[i], "classes", &classes_fd) &&
		    !number(argv[i], "ram", &ram.size) &&
		    !number(argv[i], "functions", &cells.functions) &&
		    !number(argv[i], "lines", &touched.wanted))
			fd = 0;
	if (fd < 3 || table < 3 || !read_places((int)table)) {
		fprintf(stderr, "program: needs fd=N, places=N with a table, and ram=BYTES\n");
		return -1;
	}
	if (classes_fd < 3 || !read_classes((int)classes_fd)) {
		fprintf(stderr, "program: the table of classes can't be read\n");
		return -1;
	}
	if (points_fd && !read_points((int)points_fd)) {
		fprintf(stderr, "program: the table of points can't be read\n");
		return -1;
	}
	cells.wanted = cells.functions || call_tree.wanted;
	choose_windows(all_windows());
	if (!install(id, info))
		return -1;
	make_counters(info);
	out.fd = (int)fd;
	put_bytes(HEADER, sizeof(HEADER));
	flush();
	begin_translation(translate_markers);
	return 0;
}

# Read by build.sh: what MORE adds to the source tree, after the fixtures.
# shellcheck shell=sh disable=SC2154

add_more() {
	cp "$edits/Kconfig" "$source/Kconfig.power"
	cp "$edits/layout.S" "$source/init/power_layout.S"
	cp "$edits/layout_middle.S" "$source/mm/power_layout_middle.S"
	edit Kconfig Kconfig.sed
	edit init/Makefile init-Makefile.sed
	edit mm/Makefile mm-Makefile.sed
	edit include/asm-generic/vmlinux.lds.h vmlinux.lds.h.sed
	edit kernel/fork.c fork.c.sed
	edit net/ipv4/tcp.c tcp.c.sed
	edit mm/mmap.c mmap.c.sed
	edit kernel/time/timer.c timer.c.sed
	edit kernel/softirq.c softirq.c.sed
}

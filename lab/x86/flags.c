/*
 * How a program's flags are kept out of the kernel and of other programs: mechanism `flags`. Here
 * the variant is chosen; the forms are in switch.S (the switches) and entry.S (the fast 32-bit
 * path).
 */
#include "../kernel/variants.h"
#include "../kernel/sched.h"
#include "cpu.h"
#include "patch.h"
#include "x86.h"

/* Linux masks these on `syscall` today; in 2006 it was TF, IF, DF and IOPL, of which IOPL is let
 * through here for flags=iopl-only, whose switch keeps it right. The program's own flags are safe
 * in either case: they are in r11. */
u64 flags_syscall_mask(void)
{
	u64 always = FLAG_TF | FLAG_IF | FLAG_DF | FLAG_RF;

	if (variants.flags == FLAGS_ENTRY_CLEAN)
		return always | FLAG_IOPL | FLAG_NT | FLAG_AC | FLAG_ID;
	return always;
}

void flags_apply_variant(void)
{
	static void (*const switches[])(struct task *, struct task *) = {
		[FLAGS_SAVE] = switch_save,
		[FLAGS_CONSTANT] = switch_constant,
		[FLAGS_IOPL_ONLY] = switch_iopl_only,
		[FLAGS_ENTRY_CLEAN] = switch_plain,
	};

	static_call_patch(switch_plain, switches[variants.flags]);
	if (variants.flags != FLAGS_ENTRY_CLEAN) {
		static_call_patch(sysenter_clean_flags, NULL);
		static_call_patch(sysexit_load_flags, NULL);
	}
}

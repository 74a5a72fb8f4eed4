/*
 * Bytes that nothing uses, in each of the sections that Kconfig names: whatever is linked after
 * them moves. No code differs, and no symbol.
 */
#include <linux/linkage.h>

	.text
SYM_FUNC_START(power_text)
	.skip	CONFIG_POWER_TEXT, 0x90
	RET
SYM_FUNC_END(power_text)

	.section .rodata, "a"
SYM_DATA(power_rodata, .skip CONFIG_POWER_RODATA)

	.data
SYM_DATA(power_data, .skip CONFIG_POWER_DATA)

	.bss
SYM_DATA(power_bss, .skip CONFIG_POWER_BSS)

	.section .data..read_mostly, "aw"
SYM_DATA(power_read_mostly, .skip CONFIG_POWER_READ_MOSTLY)

	.section .data..percpu, "aw"
SYM_DATA(power_percpu, .skip CONFIG_POWER_PERCPU)

/* As layout.S, where the text of mm/ begins. */
#include <linux/linkage.h>

	.text
SYM_FUNC_START(power_middle_text)
	.skip	CONFIG_POWER_MIDDLE_TEXT, 0x90
	RET
SYM_FUNC_END(power_middle_text)

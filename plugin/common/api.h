/*
 * QEMU's plugin API, versions 1 to 7 (qemu.h), as one: nothing else knows versions.
 */
#ifndef PLUGIN_API_H
#define PLUGIN_API_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/arch.h"
#include "common/qemu.h"

enum { LARGEST_BLOCK = 512 };	/* instructions; QEMU's TCG_MAX_INSNS */

/* What is done with each new block of code. */
typedef void translation_t(struct qemu_plugin_tb *tb);

/* Takes the API of the version that this plugin was given; false in another machine than ours. */
bool install(qemu_plugin_id_t id, const qemu_info_t *info);

/* Has new blocks translated so from now on. */
void begin_translation(translation_t *translation);

/* Forgets all callbacks, and has all blocks translated anew. */
void begin_translation_anew(translation_t *translation);

/* Gives each CPU something to do once it has left the guest's code (halt.h). */
void give_cpus_work(void);

struct instruction instruction_of(const struct qemu_plugin_insn *insn);

/* Answers crates/vm/src/plugin.rs, if it asks for the range of API versions that QEMU takes. */
bool asked(const qemu_info_t *info, int argc, char **argv);

/* Whether an argument is `NAME=value`; `value` is set if it is. */
bool number(const char *text, const char *name, uint64_t *value);

#endif

/*
 * What the plugins use of QEMU's plugin API, versions 1 (QEMU 7.2) to 7 (QEMU 11.1):
 * distributions don't package QEMU's own header.
 *
 * Source: QEMU include/qemu/qemu-plugin.h, from 9.2 on include/plugins/qemu-plugin.h.
 */
#ifndef PLUGIN_QEMU_H
#define PLUGIN_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

typedef struct {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	int smp_vcpus;
	int max_vcpus;
} qemu_info_t;

enum { CB_NO_REGS = 0 };
enum { MEM_W = 2, MEM_RW = 3 };

typedef void exec_cb_t(unsigned int vcpu, void *data);
typedef void mem_cb_t(unsigned int vcpu, uint32_t info, uint64_t address, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, exec_cb_t *cb, int flags,
					    void *data);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, exec_cb_t *cb, int flags,
					  void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, mem_cb_t *cb, int flags,
				      int rw, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);
struct qemu_plugin_hwaddr;
struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(uint32_t info, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *place);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *place);

/*
 * Functions whose signature changed: one declaration for each, by the first version that has it,
 * all of the one symbol. Called by api.c only.
 */
#define SYMBOL(name) __asm__("qemu_plugin_" name)

typedef void trans_cb_v1_t(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
void register_trans_v1(qemu_plugin_id_t id, trans_cb_v1_t *cb) SYMBOL("register_vcpu_tb_trans_cb");
void reset_v1(qemu_plugin_id_t id, void (*then)(qemu_plugin_id_t id)) SYMBOL("reset");
/* The bytes themselves, in QEMU's memory. */
const void *insn_data_v1(const struct qemu_plugin_insn *insn) SYMBOL("insn_data");

/* A copy of the bytes; returns how many. */
size_t insn_data_v3(const struct qemu_plugin_insn *insn, void *bytes, size_t length)
	SYMBOL("insn_data");

/* From version 7 on every callback is handed a pointer of the plugin's instead of its id. */
typedef void trans_cb_v7_t(struct qemu_plugin_tb *tb, void *data);
void register_trans_v7(qemu_plugin_id_t id, trans_cb_v7_t *cb, void *data)
	SYMBOL("register_vcpu_tb_trans_cb");
void reset_v7(qemu_plugin_id_t id, void (*then)(void *data), void *data) SYMBOL("reset");

/*
 * Inline operations: in version 1 on a variable, from version 2 on, with scoreboards, on an
 * element for each CPU. A QEMU has one pair or the other; what it lacks is null.
 */
enum { INLINE_ADD = 0 };
struct qemu_plugin_scoreboard;
typedef struct {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
} qemu_plugin_u64;
void register_inline_v1(struct qemu_plugin_insn *insn, int operation, void *variable,
			uint64_t value)
	SYMBOL("register_vcpu_insn_exec_inline") __attribute__((weak));
void register_inline_v2(struct qemu_plugin_insn *insn, int operation, qemu_plugin_u64 entry,
			uint64_t value)
	SYMBOL("register_vcpu_insn_exec_inline_per_vcpu") __attribute__((weak));
struct qemu_plugin_scoreboard *scoreboard_new(size_t element)
	SYMBOL("scoreboard_new") __attribute__((weak));
void *scoreboard_find(struct qemu_plugin_scoreboard *score, unsigned int vcpu)
	SYMBOL("scoreboard_find") __attribute__((weak));

/* A callback for system calls of an emulated program, which no machine makes; null removes it. */
typedef void syscall_cb_t(void);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id, syscall_cb_t *cb, void *data);

/* Reading the guest's memory by virtual address, from version 4 on; GByteArray is GLib's. */
typedef struct {
	uint8_t *data;
	unsigned int len;
} byte_array_t;
bool read_memory_v4(uint64_t address, byte_array_t *to, size_t length)
	SYMBOL("read_memory_vaddr") __attribute__((weak));
byte_array_t *g_byte_array_new(void) __attribute__((weak));
uint8_t *g_byte_array_free(byte_array_t *array, int with_data) __attribute__((weak));

#endif

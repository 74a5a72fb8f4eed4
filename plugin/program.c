/*
 * The program plugin: splits every instruction of a run of the user's program into rows: its own
 * code, each system call, faults, interrupts, kernel threads; in the format of
 * docs/reference/program-format.md. It leaves the guest untouched: what it knows it sees in the
 * code that is executed (account.h has the rules).
 *
 * Where the kernel is entered and left is known by its symbols (places.h). The number of a system
 * call stands in a register, which this API does not show; its name is that of the first system
 * call's function that is executed in it.
 *
 * Arguments: fd=N      the inherited descriptor to write to
 *            places=N  the one to read the table of places from
 *            ram=N     bytes of the guest's RAM
 *            classes=N  the one with the table of classes of instructions (classes.h)
 *            points=N  the one with the table of points of the kernel (points.h); none without it
 *            lines=1   count the lines of data that the kernel touches as well
 *            functions=1  tell what each row executed in each block of the kernel's code as well
 */
#include "common.h"
#include "flow.h"
#include "kernel_marks.h"
#include "marks.h"

/* ---- Runs and the stream --------------------------------------------------------------------- */

enum tag { RUN = 1, LOST, CELL = 7 };
enum { LONGEST_NUMBER = 10 };

static void put_numbers(const uint64_t *numbers, size_t count)
{
	reserve(count * LONGEST_NUMBER);
	for (size_t i = 0; i < count; i++)
		put_unsigned(numbers[i]);
}

static void write_rows(void)
{
	for (size_t at = 0; at < MOST_ROWS; at++) {
		const struct row *row = &account.rows[at];
		const uint64_t numbers[] = {
			row->kind, row->id, row->calls, row->counts.steps, row->counts.surplus,
			row->counts.string_bytes, row->counts.lines, row->counts.pages,
			row->counts.checks, row->counts.faults,
		};

		if (!row->used)
			continue;
		put_numbers(numbers, sizeof(numbers) / sizeof(*numbers));
		put_events(row->counts.events);
	}
}

static void write_cells(void)
{
	for (size_t at = 0; at < cells.room; at++) {
		const struct cell *cell = &cells.cells[at];
		const uint64_t numbers[] = {
			cell->kind, cell->id, cell->block, cell->times, cell->steps, cell->surplus,
		};

		if (!cell->block || !cell->steps)
			continue;
		reserve(1);
		put(CELL);
		put_numbers(numbers, sizeof(numbers) / sizeof(*numbers));
	}
}

static void on_program_begin(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);

	(void)vcpu;
	(void)data;
	/* The program may have such markers too: only the agent's, outside of a run, counts. */
	if (account.open)
		return;
	seen.idled = 0;
	repeat.instruction = NULL;
	begun.class = 0;
	open_account(current_id, &now);
	open_windows();
	if (!current_id)
		lose(NO_TASK);
}

static void on_program_end(unsigned int vcpu, void *data)
{
	const struct reading now = reading(0);
	struct counts counts;
	uint64_t numbers[2];

	(void)vcpu;
	(void)data;
	/* The agent's; the program's own would end the run too early. */
	if (!account.open || account.current->origin == PROGRAM_TASK)
		return;
	for (size_t at = 0; at < MOST_TASKS; at++)
		if (account.tasks[at])
			leave_regions(account.tasks[at]);
	counts = totals(&now);
	end_collection(&counts);
	each_window(chosen, close_window, &counts);
	close_account(&now);
	if (unseen)
		lose(UNSEEN_CODE);
	if (!account.lost)
		write_cells();
	reserve(1);
	put(account.lost ? LOST : RUN);
	numbers[0] = account.lost ? account.lost : seen.idled;
	numbers[1] = account.row_count;
	put_numbers(numbers, account.lost ? 1 : 2);
	if (!account.lost)
		write_rows();
	flush();
}

static void on_path(unsigned int vcpu, void *data)
{
	(void)vcpu;
	(void)data;
	if (instrumented)
		return;
	instrumented = true;
	find_counters();
	api->reset();
}

/* ---- Translation ----------------------------------------------------------------------------- */

static exec_cb_t *const on_marker[MARKERS] = {
	[PATH_MARKER] = on_path,
	[PROGRAM_BEGIN_MARKER] = on_program_begin,
	[PROGRAM_END_MARKER] = on_program_end,
	[REGION_BEGIN_MARKER] = on_region_marker,
	[REGION_END_MARKER] = on_region_marker,
	[EXPECTED_MARKER] = on_region_marker,
	[UNEXPECTED_MARKER] = on_region_marker,
};

/* Of the block that is being translated: which instructions have a callback before them. */
static bool looked_at[LARGEST_BLOCK + 1];
static size_t in_translation;	/* the instruction that is */

static void on_execution(struct qemu_plugin_insn *insn, exec_cb_t *cb, const void *data)
{
	looked_at[in_translation] = true;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, CB_NO_REGS, (void *)data);
}

static bool has_bytes(const struct instruction *instruction, const char *bytes, size_t length)
{
	return instruction->length >= length && !memcmp(instruction->bytes, bytes, length);
}
#define HAS(instruction, bytes) has_bytes(instruction, bytes, sizeof(bytes) - 1)

/* iret, sysret and sysexit: Intel SDM volume 2, the instructions' pages. */
static bool leaves_kernel(const struct instruction *instruction)
{
	return HAS(instruction, "\x48\xcf") || HAS(instruction, "\xcf") ||
	       HAS(instruction, "\x48\x0f\x07") || HAS(instruction, "\x0f\x07") ||
	       HAS(instruction, "\x48\x0f\x35") || HAS(instruction, "\x0f\x35");
}

/* Whether this instruction of a function in several places leaves it: it returns, or jumps to
 * where none of its places is, such as to a thunk that returns. */
static bool leaves_function(const struct instruction *instruction, uint64_t end)
{
	const struct place *to;

	if (HAS(instruction, "\xc3"))
		return true;
	if (!HAS(instruction, "\xe9") && !HAS(instruction, "\xeb"))
		return false;
	to = place_at(target_of(instruction, end));
	return !to || to->kind != SOFTIRQS;
}

/* Whether it is the first of an entry of the table: endbr64 where there are such, or else the push
 * of the vector (Linux arch/x86/include/asm/idtentry.h, irq_entries_start). */
static bool begins_table_entry(const struct instruction *instruction, uint64_t address)
{
	return address % 8 == 0 &&
	       (HAS(instruction, "\xf3\x0f\x1e\xfa") || HAS(instruction, "\x6a") ||
		HAS(instruction, "\x68"));
}

/* The vector whose entry stands at `address`: places.h tells how a table's id is made. */
static uintptr_t vector_of(const struct place *place, uint64_t address)
{
	uint32_t size = place->id & 0xff;

	return (place->id >> 8) + (size ? (address - place->first) / size : 0);
}

/* What is done in the kernel's code at `address`, which `place` has, if any. */
static void translate_place(struct qemu_plugin_insn *insn, const struct instruction *instruction,
			    const struct place *place, uint64_t address)
{
	bool first = place->first == address;

	switch (place->kind) {
	case SYSCALL_FUNCTION:
		if (first)
			on_execution(insn, on_syscall_function, place);
		break;
	case PAGE_FAULT_ENTRY:
		if (first)
			on_execution(insn, on_entry, place);
		/* mov 0x78(%rsp),%rsi: ORIG_RAX of struct pt_regs */
		if (HAS(instruction, "\x48\x8b\x74\x24\x78"))
			qemu_plugin_register_vcpu_mem_cb(insn, on_error_code, CB_NO_REGS, MEM_RW,
							 NULL);
		break;
	case SOFTIRQS:
		if (first && place->id == 0)
			on_execution(insn, on_entry, place);
		if (leaves_function(instruction, address + instruction->length))
			on_execution(insn, on_softirqs_end, NULL);
		break;
	case SWITCH:
		/* mov disp32(%rsi),%rsp */
		if (HAS(instruction, "\x48\x8b\xa6"))
			qemu_plugin_register_vcpu_mem_cb(insn, on_switch, CB_NO_REGS, MEM_RW, NULL);
		break;
	case NEW_TASK_ENTRY:
		if (first)
			on_execution(insn, on_new_task, NULL);
		break;
	case INTERRUPT_TABLE:
		if (begins_table_entry(instruction, address))
			on_execution(insn, on_table_entry, (void *)vector_of(place, address));
		break;
	default:
		if (first)
			on_execution(insn, on_entry, place);
	}
}

static void translate_kernel(struct qemu_plugin_insn *insn, const struct instruction *instruction,
			     uint64_t address)
{
	const struct place *place = place_at(address);

	if (place) {
		find_ram(insn);
		translate_place(insn, instruction, place, address);
	}
	/* hlt, mwait */
	if (HAS(instruction, "\xf4") || HAS(instruction, "\x0f\x01\xc9"))
		on_execution(insn, on_idle, NULL);
	if (returns_wanted && (is_call(instruction) || is_return(instruction)))
		qemu_plugin_register_vcpu_mem_cb(insn, on_return_address, CB_NO_REGS, MEM_RW, NULL);
	if (loads_stack(instruction->bytes, address))
		qemu_plugin_register_vcpu_mem_cb(insn, on_task_switch, CB_NO_REGS, MEM_RW, NULL);
	if (touched.wanted)
		qemu_plugin_register_vcpu_mem_cb(insn, on_kernel_access, CB_NO_REGS, MEM_RW, NULL);
}

/* testb $0 with an operand in memory. */
static bool is_load_of_name(const struct instruction *instruction)
{
	const uint8_t *opcode =
		instruction->bytes + prefixes(instruction->bytes, instruction->length);
	const uint8_t *last = instruction->bytes + instruction->length - 1;

	return *opcode == 0xf6 && opcode + 2 <= last && (opcode[1] >> 3 & 7) == 0 &&
	       opcode[1] >> 6 != 3 && *last == 0;
}

static void translate_markers(struct qemu_plugin_tb *tb)
{
	uint8_t bytes[MAX_LENGTH];

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (marker(bytes, bytes_of(insn, bytes)) == PATH_MARKER)
			on_execution(insn, on_path, NULL);
	}
}

static void see_stores(struct qemu_plugin_insn *insn)
{
	qemu_plugin_register_vcpu_mem_cb(insn, on_store, CB_NO_REGS, MEM_RW, NULL);
}

/* Has the requests of a block of a program's be seen, and what it stores before. */
static void translate_requests(struct qemu_plugin_tb *tb)
{
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		uintptr_t size = 0;
		size_t end = request_at(tb, i, &size);

		if (!end)
			continue;
		for (size_t before = 0; before < i; before++)
			see_stores(qemu_plugin_tb_get_insn(tb, before));
		in_translation = end - 1;
		on_execution(qemu_plugin_tb_get_insn(tb, end - 1), on_request, (void *)size);
	}
}

/* Has a function of the program's be seen that begins here, if functions are regions. */
static void translate_function(struct qemu_plugin_tb *tb, uint64_t start)
{
	const struct function *function = function_count ? function_at(tb, start) : NULL;

	in_translation = 0;
	if (function)
		on_execution(qemu_plugin_tb_get_insn(tb, 0), on_function, function);
}

static void translate_calls(struct qemu_plugin_insn *insn, const struct instruction *instruction)
{
	if (is_call(instruction))
		qemu_plugin_register_vcpu_mem_cb(insn, on_call, CB_NO_REGS, MEM_RW, NULL);
	if (is_return(instruction))
		qemu_plugin_register_vcpu_mem_cb(insn, on_function_return, CB_NO_REGS, MEM_RW,
						 NULL);
}

static void translate_string(struct qemu_plugin_insn *insn, const struct instruction *instruction,
			     uint64_t address)
{
	uintptr_t string = string_accesses(instruction), class = class_of(instruction);
	bool compares = compares_strings(instruction);

	on_execution(insn, on_string,
		     string_key(address, compares ? 0 : element_of(instruction)));
	if (class)
		on_execution(insn, on_counted_string, (void *)class);
	if (compares)
		qemu_plugin_register_vcpu_mem_cb(insn, on_string_access, CB_NO_REGS, MEM_RW,
						 (void *)string);
}

static void translate_user(struct qemu_plugin_insn *insn, const struct instruction *instruction)
{
	if (is_load_of_name(instruction))
		qemu_plugin_register_vcpu_mem_cb(insn, on_name, CB_NO_REGS, MEM_RW, NULL);
	if (function_count)
		translate_calls(insn, instruction);
	if (is_privileged(instruction))
		on_execution(insn, on_refused, NULL);
}

/* Has an instruction be seen where it matters. */
static void translate_instruction(struct qemu_plugin_insn *insn,
				  const struct instruction *instruction)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	uintptr_t kind = marker(instruction->bytes, instruction->length);

	if (on_marker[kind])
		on_execution(insn, on_marker[kind], (void *)kind);
	if (is_kernel(address))
		translate_kernel(insn, instruction, address);
	else
		translate_user(insn, instruction);
}

/* Has the instruction itself be counted: before the frame that it leaves ends. */
static void translate_event(struct qemu_plugin_insn *insn, const struct instruction *instruction)
{
	uint64_t address = qemu_plugin_insn_vaddr(insn);
	uintptr_t class;

	if (string_accesses(instruction) != PLAIN) {
		translate_string(insn, instruction, address);
		return;
	}
	class = class_of(instruction);
	if (class)
		on_execution(insn, on_counted, (void *)class);
	if (is_kernel(address) && is_in(&entry_text, address) && leaves_kernel(instruction))
		on_execution(insn, on_return, NULL);
}

/* What is done where a block begins at `start`. */
static void translate_beginning(struct qemu_plugin_tb *tb, uint64_t start)
{
	if (!is_kernel(start)) {
		translate_requests(tb);
		translate_function(tb, start);
	} else if (cells.wanted) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_kernel_block, CB_NO_REGS,
						     (void *)start);
	}
}

/*
 * Each instruction advances a counter before it is executed, and must not if it is not executed in
 * the end. One that can't fault may as well be counted with the one after it, as long as nobody
 * looks at the counters in between.
 */
static void translate_all(struct qemu_plugin_tb *tb)
{
	static struct instruction instructions[LARGEST_BLOCK];
	static bool taken_back[LARGEST_BLOCK + 1];
	size_t count = qemu_plugin_tb_n_insns(tb);
	uint64_t start = count ? qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, 0)) : 0;
	unsigned int uncounted = 0;
	size_t spot = chosen ? 0 : count;	/* where the next one begins */

	if (count > LARGEST_BLOCK) {
		unseen = true;
		return;
	}
	memset(looked_at, 0, count * sizeof(*looked_at));
	looked_at[count] = true;
	translate_beginning(tb, start);
	for (size_t i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		in_translation = i;
		taken_back[i] = may_be_taken_back(qemu_plugin_insn_vaddr(insn));
		instructions[i].length = bytes_of(insn, instructions[i].bytes);
		translate_instruction(insn, &instructions[i]);
		/* So that the frame of an interrupt is there, and nothing of the instruction is. */
		if (i == spot) {
			spot = up_to_point(tb, i);
			on_execution(insn, on_spot, spot_between(tb, i, spot));
		}
		translate_event(insn, &instructions[i]);
	}
	for (size_t i = 0; i < count; i++) {
		uncounted++;
		if (is_safe(&instructions[i]) && !looked_at[i + 1] && !taken_back[i + 1])
			continue;
		/* After the callbacks: they see what was executed before this instruction. */
		advance(qemu_plugin_tb_get_insn(tb, i),
			is_kernel(start) ? KERNEL_STEPS : USER_STEPS, uncounted);
		uncounted = 0;
	}
}

/* ---- Start ----------------------------------------------------------------------------------- */

static void after_reset(void)
{
	translate = translate_all;
	api->start();
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	static const uint8_t HEADER[8] = "PMPR\3";
	uint64_t fd = 0, table = 0, points_fd = 0, classes_fd = 0;

	if (asked(info, argc, argv))
		return -1;
	for (int i = 0; i < argc; i++)
		if (!number(argv[i], "fd", &fd) && !number(argv[i], "places", &table) &&
		    !number(argv[i], "points", &points_fd) &&
		    !number(argv[i], "classes", &classes_fd) &&
		    !number(argv[i], "ram", &ram.size) &&
		    !number(argv[i], "functions", &cells.wanted) &&
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
	choose_all();
	if (!install(id, info))
		return -1;
	make_counters(info);
	out.fd = (int)fd;
	put_bytes(HEADER, sizeof(HEADER));
	flush();
	translate = translate_markers;
	api->start();
	return 0;
}

/*
 * What programs may set of the CPU's state beside their registers, and what they start with.
 *
 * Sources: arch_prctl(2), set_thread_area(2); System V ABI, AMD64 supplement, 3.4.1 (initial
 * state); Linux arch/x86/kernel/{process_64,tls}.c.
 */
#include "processor_state.h"

#include "../kernel/syscall.h"
#include "../kernel/syscalls.h"
#include "x86.h"
#include "cpu.h"
#include "fpu.h"
#include "usercopy.h"

#define ARCH_SET_GS 0x1001
#define ARCH_SET_FS 0x1002
#define ARCH_GET_FS 0x1003
#define ARCH_GET_GS 0x1004

/* struct user_desc */
struct tls_request {
	u32 entry; /* -1: any free one, told in its place */
	u32 base, limit;
	u32 flags;
};

#define TLS_32BIT 0x01u
#define TLS_CONTENTS 0x06u /* 0 data, 2 data that grows down, others code */
#define TLS_READ_ONLY 0x08u
#define TLS_PAGES 0x10u
#define TLS_NOT_PRESENT 0x20u
#define TLS_USEABLE 0x40u
#define TLS_EMPTY (TLS_READ_ONLY | TLS_NOT_PRESENT)

/* Segment descriptor (Intel SDM volume 3, 3.4.5): accessed data, ring 3, present. */
#define DESCRIPTOR_DATA (0xf1ul << 40)
#define DESCRIPTOR_WRITE (1ul << 41)
#define DESCRIPTOR_EXPAND_DOWN (1ul << 42)
#define DESCRIPTOR_AVAILABLE (1ul << 52)
#define DESCRIPTOR_32BIT (1ul << 54)
#define DESCRIPTOR_PAGES (1ul << 55)

void program_fork(struct task *child, const struct regs *regs, u64 stack)
{
	struct task *parent = current;
	struct regs *to = task_regs(child);

	fpu_save(child->fpu);
	segments_save(parent);
	child->fs = parent->fs;
	child->gs = parent->gs;
	child->ds = parent->ds;
	child->es = parent->es;
	child->fs_base = parent->fs_base;
	child->gs_base = parent->gs_base;
	memcpy(child->tls, parent->tls, sizeof(child->tls));
	*to = *regs;
	to->rax = 0;
	if (stack)
		to->rsp = stack;
	child->eflags = parent->eflags;
	task_first_frame(child, NULL, NULL);
}

static u64 tls_descriptor(const struct tls_request *request)
{
	u64 base = request->base, limit = request->limit & 0xfffff;
	u64 descriptor = DESCRIPTOR_DATA | DESCRIPTOR_32BIT;

	descriptor |= (limit & 0xffff) | (base & 0xffffff) << 16;
	descriptor |= (limit >> 16) << 48 | (base >> 24) << 56;
	if (!(request->flags & TLS_READ_ONLY))
		descriptor |= DESCRIPTOR_WRITE;
	if (request->flags & TLS_CONTENTS)
		descriptor |= DESCRIPTOR_EXPAND_DOWN;
	if (request->flags & TLS_PAGES)
		descriptor |= DESCRIPTOR_PAGES;
	if (request->flags & TLS_USEABLE)
		descriptor |= DESCRIPTOR_AVAILABLE;
	return descriptor;
}

/* Index of the entry that a request means; -1: none. */
static int tls_index(const struct task *task, u32 entry)
{
	if (entry != -1u)
		return entry - GDT_TLS < ARRAY_SIZE(task->tls) ? (int)(entry - GDT_TLS) : -1;
	for (unsigned i = 0; i < ARRAY_SIZE(task->tls); i++)
		if (!task->tls[i])
			return i;
	return -1;
}

static i64 tls_set(struct task *task, u64 address, bool choose)
{
	struct tls_request request;
	int index;

	if (copy_from_user(&request, address, sizeof(request)))
		return -EFAULT;
	if (request.entry == -1u && !choose)
		return -EINVAL;
	index = tls_index(task, request.entry);
	if (index < 0)
		return request.entry == -1u ? -ESRCH : -EINVAL;
	if (request.flags == TLS_EMPTY && !request.base && !request.limit) {
		task->tls[index] = 0;
		return 0;
	}
	/* Present data in 32 bits only, as Linux has it. */
	if (!(request.flags & TLS_32BIT) || (request.flags & TLS_CONTENTS) > 2 ||
	    request.flags & TLS_NOT_PRESENT)
		return -EINVAL;
	if (request.entry == -1u && put_user_u32(address, GDT_TLS + index))
		return -EFAULT;
	task->tls[index] = tls_descriptor(&request);
	return 0;
}

i64 program_set_tls(struct task *child, u64 tls)
{
	if (current->mm->compat)
		return tls_set(child, tls, false);
	if (tls >= USER_TOP)
		return -EPERM;
	child->fs = 0;
	child->fs_base = tls;
	return 0;
}

i64 compat_set_thread_area(u64 descriptor)
{
	i64 result = tls_set(current, descriptor, true);

	if (!result) {
		segments_save(current);
		segments_load(current);
	}
	return result;
}

static i64 set_base(u64 *base, u16 *selector, u64 value)
{
	if (value >= USER_TOP)
		return -EPERM;
	segments_save(current);
	*base = value;
	*selector = 0;
	segments_load(current);
	return 0;
}

i64 sys_arch_prctl(u64 option, u64 value)
{
	struct task *task = current;

	switch ((u32)option) {
	case ARCH_SET_FS:
		return set_base(&task->fs_base, &task->fs, value);
	case ARCH_SET_GS:
		return set_base(&task->gs_base, &task->gs, value);
	case ARCH_GET_FS:
		return put_user_u64(value, task->fs_base);
	case ARCH_GET_GS:
		return put_user_u64(value, task->gs_base);
	default:
		return -EINVAL;
	}
}

void program_start(u64 entry, u64 stack, bool compat)
{
	struct task *task = current;
	struct regs *regs = task_regs(task);

	memset(regs, 0, sizeof(*regs));
	regs->orig_rax = -1ul;
	regs->rip = entry;
	regs->rsp = stack;
	regs->cs = compat ? USER_CS32 : USER_CS;
	regs->ss = USER_DS;
	regs->rflags = FLAG_ONE | FLAG_IF;
	sys_iopl(0);
	task->fs = task->gs = 0;
	task->ds = task->es = compat ? USER_DS : 0;
	task->fs_base = task->gs_base = 0;
	memset(task->tls, 0, sizeof(task->tls));
	segments_load(task);
	fpu_init_state(task->fpu);
	fpu_load(task->fpu);
	__atomic_fetch_or(&task->work, WORK_FRAME, __ATOMIC_RELAXED);
}

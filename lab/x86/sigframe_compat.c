/*
 * Signal frames of 32-bit programs, the old kind and that of SA_SIGINFO; see sigframe.h.
 *
 * Handlers return by the action's restorer, or else by the system call page. Segment registers are
 * told, but not restored. The FPU's state is told twice, as fsave and as fxsave had it, and
 * restored from the second.
 */
#include "../kernel/process.h"
#include "../kernel/syscall.h"
#include "../kernel/syscalls.h"
#include "x86.h"
#include "sigframe.h"
#include "usercopy.h"
#include "vdso.h"

struct sigcontext32 {
	u32 gs, fs, es, ds;
	u32 edi, esi, ebp, esp, ebx, edx, ecx, eax;
	u32 trap, error;
	u32 eip, cs, eflags, esp_at_signal, ss;
	u32 fpu; /* address of a struct fpu_state32, 0: initial state */
	u32 old_mask, cr2;
};

struct fpu_state32 {
	u32 control, status, tags, instruction, code_segment, data, data_segment;
	u8 st[8][10];
	u16 status_again, magic; /* 0: the fxsave state follows */
	u8 fxsave[sizeof(struct fpu_state)];
};

struct sigframe32 {
	u32 return_address;
	i32 number;
	struct sigcontext32 context;
	struct fpu_state32 unused;
	u32 blocked_high;
	u8 code[8];
};

struct rt_sigframe32 {
	u32 return_address;
	i32 number;
	u32 info_address, user_address;
	struct {
		i32 number, error, code;
		u32 address; /* or pid */
		u32 uid, status;
		u8 rest[104];
	} info;
	struct {
		u32 flags, link;
		u32 stack, stack_flags, stack_size;
		struct sigcontext32 context;
		u32 blocked[2];
	} user;
	u8 code[8];
};

_Static_assert(sizeof(struct sigcontext32) == 88, "Linux uapi/asm/sigcontext.h");
_Static_assert(sizeof(struct fpu_state32) == 624, "Linux uapi/asm/sigcontext.h");
_Static_assert(offsetof(struct sigframe32, blocked_high) == 720, "Linux asm/sigframe.h");
_Static_assert(offsetof(struct rt_sigframe32, user.context) == 164, "Linux asm/sigframe.h");

static void fill_fpu(struct fpu_state32 *to)
{
	struct fpu_state now;

	fpu_save(&now);
	memset(to, 0, sizeof(*to));
	to->control = now.control | 0xffff0000;
	to->status = now.status | 0xffff0000;
	to->tags = 0xffff0000;
	to->status_again = now.status;
	for (unsigned i = 0; i < 8; i++) {
		if (!(now.tags >> i & 1))
			to->tags |= 3u << (2 * i); /* empty; the others are called valid */
		memcpy(to->st[i], now.st[i], sizeof(to->st[i]));
	}
	memcpy(to->fxsave, &now, sizeof(now));
}

static void fill_context(struct sigcontext32 *to, const struct regs *regs,
			 const struct signal_info *info, u32 fpu, u32 old_mask)
{
	bool fault = info->number == SIGSEGV && info->code > 0;

	*to = (struct sigcontext32){
		.gs = current->gs, .fs = current->fs, .es = USER_DS, .ds = USER_DS,
		.edi = regs->rdi, .esi = regs->rsi, .ebp = regs->rbp, .esp = regs->rsp,
		.ebx = regs->rbx, .edx = regs->rdx, .ecx = regs->rcx, .eax = regs->rax,
		.eip = regs->rip, .cs = regs->cs, .eflags = regs->rflags,
		.esp_at_signal = regs->rsp, .ss = regs->ss,
		.fpu = fpu, .old_mask = old_mask, .cr2 = fault ? info->address : 0,
	};
}

static u32 return_address(const struct sigaction *action)
{
	if (action->flags & SA_RESTORER)
		return action->restorer;
	return action->flags & SA_SIGINFO ? VSYSCALL32_RT_SIGRETURN : VSYSCALL32_SIGRETURN;
}

/* As after a call: the return address on top, the argument above it 16-byte aligned. */
static u64 place_frame(u64 below, u64 size)
{
	return align_down(below - size + 4, 16) - 4;
}

static u64 build_old(const struct regs *regs, const struct signal_info *info,
		     const struct sigaction *action, u64 blocked, u64 fpu)
{
	struct sigframe32 frame = {
		.return_address = return_address(action),
		.number = info->number,
		.blocked_high = blocked >> 32,
	};
	u64 at = place_frame(fpu, sizeof(frame));

	fill_context(&frame.context, regs, info, fpu, blocked);
	return copy_to_user(at, &frame, sizeof(frame)) ? 0 : at;
}

static u64 build_rt(const struct regs *regs, const struct signal_info *info,
		    const struct sigaction *action, u64 blocked, u64 fpu)
{
	struct rt_sigframe32 frame = {
		.return_address = return_address(action),
		.number = info->number,
		.info = { .number = info->number, .code = info->code, .address = info->address },
		.user = {
			.stack = current->alt_stack,
			.stack_size = current->alt_stack_size,
			.stack_flags = alt_stack_flags(regs->rsp),
			.blocked = { blocked, blocked >> 32 },
		},
	};
	u64 at = place_frame(fpu, sizeof(frame));

	frame.info_address = at + offsetof(struct rt_sigframe32, info);
	frame.user_address = at + offsetof(struct rt_sigframe32, user);
	if (info->number == SIGCHLD && info->code > 0)
		frame.info.status = info->address >> 32;
	fill_context(&frame.user.context, regs, info, fpu, blocked);
	return copy_to_user(at, &frame, sizeof(frame)) ? 0 : at;
}

bool sigframe_build_compat(struct regs *regs, const struct signal_info *info,
			   const struct sigaction *action, u64 blocked)
{
	bool rt = action->flags & SA_SIGINFO;
	struct fpu_state32 fpu;
	u64 stack = sigframe_stack(regs, action, 0), fpu_at, at;

	if (stack < sizeof(fpu) + sizeof(struct rt_sigframe32))
		return false;
	fpu_at = align_down(stack - sizeof(fpu), 16);
	fill_fpu(&fpu);
	if (copy_to_user(fpu_at, &fpu, sizeof(fpu)))
		return false;
	at = (rt ? build_rt : build_old)(regs, info, action, blocked, fpu_at);
	if (!at)
		return false;
	fpu_load_initial();
	regs->rax = info->number;
	regs->rdx = rt ? at + offsetof(struct rt_sigframe32, info) : 0;
	regs->rcx = rt ? at + offsetof(struct rt_sigframe32, user) : 0;
	regs->rip = action->handler;
	regs->rsp = at;
	regs->cs = USER_CS32;
	regs->ss = USER_DS;
	regs->rflags &= ~(u64)(FLAG_DF | FLAG_RF | FLAG_TF);
	__atomic_fetch_or(&current->work, WORK_FRAME, __ATOMIC_RELAXED);
	return true;
}

static bool restore_fpu(u32 address)
{
	struct fpu_state state;

	if (!address) {
		fpu_load_initial();
		return true;
	}
	if (copy_from_user(&state, address + offsetof(struct fpu_state32, fxsave), sizeof(state)))
		return false;
	fpu_load_user(&state);
	return true;
}

/* The context's registers; eax is the result of the call that brought us here. */
static i64 restore_context(struct regs *regs, const struct sigcontext32 *from, u64 blocked)
{
	if (!restore_fpu(from->fpu)) {
		signal_force(SIGSEGV, SI_KERNEL, 0);
		return 0;
	}
	signal_set_blocked(blocked);
	regs->rdi = from->edi; regs->rsi = from->esi; regs->rbp = from->ebp; regs->rsp = from->esp;
	regs->rbx = from->ebx; regs->rdx = from->edx; regs->rcx = from->ecx; regs->rax = from->eax;
	regs->rip = from->eip;
	regs->rflags = sigframe_flags(regs->rflags, from->eflags);
	regs->cs = USER_CS32;
	regs->ss = USER_DS;
	regs->orig_rax = -1ul; /* no call to be restarted */
	__atomic_fetch_or(&current->work, WORK_FRAME, __ATOMIC_RELAXED);
	return regs->rax;
}

/* The restorer popped number and return address, or only the latter: esp is after that. */
i64 compat_sigreturn(void)
{
	struct regs *regs = task_regs(current);
	struct sigframe32 frame;
	u64 at = (u32)regs->rsp - offsetof(struct sigframe32, context);

	if (copy_from_user(&frame, at, sizeof(frame))) {
		signal_force(SIGSEGV, SI_KERNEL, 0);
		return 0;
	}
	return restore_context(regs, &frame.context,
			       frame.context.old_mask | (u64)frame.blocked_high << 32);
}

i64 compat_rt_sigreturn(void)
{
	struct regs *regs = task_regs(current);
	struct rt_sigframe32 frame;
	u64 at = (u32)regs->rsp - offsetof(struct rt_sigframe32, number);
	i64 result;

	if (copy_from_user(&frame, at, sizeof(frame))) {
		signal_force(SIGSEGV, SI_KERNEL, 0);
		return 0;
	}
	result = restore_context(regs, &frame.user.context,
				 frame.user.blocked[0] | (u64)frame.user.blocked[1] << 32);
	alt_stack_set(regs->rsp, frame.user.stack, frame.user.stack_size, frame.user.stack_flags);
	return result;
}

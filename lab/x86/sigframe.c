/*
 * Signal frames of 64-bit programs; see sigframe.h.
 *
 * Nothing that comes back in a frame is believed: segments are the program's own, flags only those
 * that it may set itself, the instruction pointer is one of user space (else iret would fault in
 * the kernel), reserved bits of mxcsr are cleared (fxrstor would).
 */
#include "sigframe.h"

#include "../kernel/process.h"
#include "../kernel/syscall.h"
#include "../kernel/syscalls.h"
#include "x86.h"
#include "usercopy.h"

#define RED_ZONE 128 /* bytes below the stack pointer that the ABI gives to functions */

#define SS_ONSTACK 1
#define SS_DISABLE 2
#define MINSIGSTKSZ 2048

#define UC_SIGCONTEXT_SS 2
#define UC_STRICT_RESTORE_SS 4

#define FLAGS_OF_USER 0x50dd5 /* AC, RF, OF, DF, TF, SF, ZF, AF, PF, CF */

struct sigcontext {
	u64 r8, r9, r10, r11, r12, r13, r14, r15;
	u64 rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip, rflags;
	u16 cs, gs, fs, ss;
	u64 error, trap, old_mask, cr2;
	u64 fpu; /* address of a struct fpu_state, 0: initial state */
	u64 reserved[8];
};

struct sigframe {
	u64 return_address;
	struct {
		u64 flags, link;
		u64 stack;
		u32 stack_flags, hole;
		u64 stack_size;
		struct sigcontext context;
		u64 blocked;
	} user;
	struct {
		i32 number, error, code, hole;
		u64 address;  /* or pid, and uid above it */
		u64 status;
		u8 rest[96];
	} info;
};

_Static_assert(sizeof(struct sigcontext) == 256, "Linux uapi/asm/sigcontext.h");
_Static_assert(offsetof(struct sigframe, user.context) == 8 + 40, "Linux uapi/asm/ucontext.h");
_Static_assert(offsetof(struct sigframe, info) == 8 + 304, "Linux asm/sigframe.h");
_Static_assert(sizeof(struct sigframe) == 8 + 304 + 128, "Linux asm/sigframe.h");

static bool on_alt_stack(u64 rsp)
{
	const struct task *task = current;

	return rsp - task->alt_stack <= task->alt_stack_size && rsp != task->alt_stack;
}

u32 alt_stack_flags(u64 rsp)
{
	if (!current->alt_stack_size)
		return SS_DISABLE;
	return on_alt_stack(rsp) ? SS_ONSTACK : 0;
}

i64 alt_stack_set(u64 rsp, u64 address, u64 size, u32 flags)
{
	if (alt_stack_flags(rsp) == SS_ONSTACK)
		return -EPERM;
	if (flags & ~(u32)(SS_ONSTACK | SS_DISABLE))
		return -EINVAL;
	if (flags & SS_DISABLE)
		address = size = 0;
	else if (size < MINSIGSTKSZ)
		return -ENOMEM;
	current->alt_stack = address;
	current->alt_stack_size = size;
	return 0;
}

u64 sigframe_stack(const struct regs *regs, const struct sigaction *action, u64 red_zone)
{
	if (action->flags & SA_ONSTACK && alt_stack_flags(regs->rsp) == 0)
		return current->alt_stack + current->alt_stack_size;
	return regs->rsp - red_zone;
}

u64 sigframe_flags(u64 now, u64 wanted)
{
	return (now & ~(u64)FLAGS_OF_USER) | (wanted & FLAGS_OF_USER);
}

void fpu_load_user(struct fpu_state *state)
{
	struct fpu_state now;

	fpu_save(&now);
	state->mxcsr &= now.mxcsr_mask ? now.mxcsr_mask : 0xffbf; /* Intel SDM volume 1, 11.6.6 */
	fpu_load(state);
}

void fpu_load_initial(void)
{
	struct fpu_state state;

	fpu_init_state(&state);
	fpu_load(&state);
}

static void fill_context(struct sigcontext *to, const struct regs *regs)
{
	*to = (struct sigcontext){
		.r8 = regs->r8, .r9 = regs->r9, .r10 = regs->r10, .r11 = regs->r11,
		.r12 = regs->r12, .r13 = regs->r13, .r14 = regs->r14, .r15 = regs->r15,
		.rdi = regs->rdi, .rsi = regs->rsi, .rbp = regs->rbp, .rbx = regs->rbx,
		.rdx = regs->rdx, .rax = regs->rax, .rcx = regs->rcx, .rsp = regs->rsp,
		.rip = regs->rip, .rflags = regs->rflags, .cs = regs->cs, .ss = regs->ss,
	};
}

/* siginfo's union: an address for faults, a child's end, or who sent it. */
static void fill_info(struct sigframe *frame, const struct signal_info *info)
{
	frame->info.number = info->number;
	frame->info.code = info->code;
	if (info->number == SIGCHLD && info->code > 0) {
		frame->info.address = (u32)info->address;
		frame->info.status = info->address >> 32;
	} else {
		frame->info.address = info->address;
	}
}

static void fill_frame(struct sigframe *frame, const struct regs *regs,
		       const struct signal_info *info, const struct sigaction *action, u64 blocked)
{
	memset(frame, 0, sizeof(*frame));
	frame->return_address = action->restorer;
	frame->user.flags = UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS;
	frame->user.stack = current->alt_stack;
	frame->user.stack_size = current->alt_stack_size;
	frame->user.stack_flags = alt_stack_flags(regs->rsp);
	frame->user.blocked = blocked;
	fill_context(&frame->user.context, regs);
	frame->user.context.old_mask = blocked;
	if (info->number == SIGSEGV && info->code > 0)
		frame->user.context.cr2 = info->address;
	fill_info(frame, info);
}

bool sigframe_build(struct regs *regs, const struct signal_info *info,
		    const struct sigaction *action, u64 blocked)
{
	struct sigframe frame;
	struct fpu_state fpu;
	u64 fpu_at, at;

	if (current->mm->compat)
		return sigframe_build_compat(regs, info, action, blocked);
	if (!(action->flags & SA_RESTORER) || action->handler >= USER_TOP)
		return false;
	fpu_at = align_down(sigframe_stack(regs, action, RED_ZONE) - sizeof(fpu), 64);
	at = align_down(fpu_at - sizeof(frame), 16) - 8; /* as after a call */
	fill_frame(&frame, regs, info, action, blocked);
	frame.user.context.fpu = fpu_at;
	fpu_save(&fpu);
	if (copy_to_user(fpu_at, &fpu, sizeof(fpu)) || copy_to_user(at, &frame, sizeof(frame)))
		return false;
	fpu_load_initial();
	regs->rdi = info->number;
	regs->rsi = at + offsetof(struct sigframe, info);
	regs->rdx = at + offsetof(struct sigframe, user);
	regs->rax = 0;
	regs->rip = action->handler;
	regs->rsp = at;
	regs->cs = USER_CS;
	regs->ss = USER_DS;
	regs->rflags &= ~(u64)(FLAG_DF | FLAG_RF | FLAG_TF);
	__atomic_fetch_or(&current->work, WORK_FRAME, __ATOMIC_RELAXED);
	return true;
}

static bool restore_fpu(u64 address)
{
	struct fpu_state state;

	if (!address) {
		fpu_load_initial();
		return true;
	}
	if (copy_from_user(&state, address, sizeof(state)))
		return false;
	fpu_load_user(&state);
	return true;
}

static void restore_context(struct regs *regs, const struct sigcontext *from)
{
	regs->r8 = from->r8; regs->r9 = from->r9; regs->r10 = from->r10; regs->r11 = from->r11;
	regs->r12 = from->r12; regs->r13 = from->r13; regs->r14 = from->r14; regs->r15 = from->r15;
	regs->rdi = from->rdi; regs->rsi = from->rsi; regs->rbp = from->rbp; regs->rbx = from->rbx;
	regs->rdx = from->rdx; regs->rax = from->rax; regs->rcx = from->rcx; regs->rsp = from->rsp;
	regs->rip = from->rip;
	regs->rflags = sigframe_flags(regs->rflags, from->rflags);
	regs->cs = from->cs == USER_CS32 ? USER_CS32 : USER_CS; /* it may run 32-bit code */
	regs->ss = USER_DS;
	regs->orig_rax = -1ul; /* no call to be restarted */
}

i64 sys_rt_sigreturn(void)
{
	struct regs *regs = task_regs(current);
	struct sigframe frame;

	if (copy_from_user(&frame.user, regs->rsp - 8 + offsetof(struct sigframe, user),
			   sizeof(frame.user)) ||
	    frame.user.context.rip >= USER_TOP || !restore_fpu(frame.user.context.fpu)) {
		signal_force(SIGSEGV, SI_KERNEL, 0);
		return 0;
	}
	signal_set_blocked(frame.user.blocked);
	restore_context(regs, &frame.user.context);
	alt_stack_set(regs->rsp, frame.user.stack, frame.user.stack_size, frame.user.stack_flags);
	__atomic_fetch_or(&current->work, WORK_FRAME, __ATOMIC_RELAXED);
	return regs->rax;
}

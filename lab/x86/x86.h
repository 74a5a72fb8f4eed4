/* The steps of x86/ that kernel/main.c and others call. */
#ifndef LAB_X86_H
#define LAB_X86_H

#include "../kernel/task.h"
#include "../kernel/types.h"

/* From the PVH start info, copied before low memory is used again (pvh.c). */
struct boot_info {
	char command_line[2048];
	u64 initramfs, initramfs_size; /* physical */
	u64 rsdp;
};
extern struct boot_info boot_info;

void boot_read(u64 start_info_phys);   /* fills boot_info, adds memory ranges */
void cpu_detect(void);                 /* features; before variants are read */
/* If this fault shows a KVM that can't run programs: reports that and ends the machine. */
void kvm_check_fault(const struct regs *regs, u64 vector, u64 address);
void cpu_init(void);                   /* CR0/CR4, EFER, the variant's syscall MSRs: each CPU */
void paging_init(void);                /* direct map and image, final permissions but for text */
void text_protect(void);               /* text becomes read-only: patching is over */
u64 paging_new_root(void);             /* top table with the kernel's half; 0 without memory */
/* The page of a device's registers at `phys`, uncached; before others than the boot CPU run. */
void *device_map(u64 phys);
/* Has the I/O APIC's input `line`, level-triggered, interrupt that CPU; false if there is none. */
bool ioapic_route(u32 line, u32 vector, u32 apic_id);
void apic_init_cpu(void);
void apic_eoi(void);
void apic_send(u32 apic_id, u32 vector);
void apic_timer_vector(u32 vector);
void apic_timer_set(u64 deadline);     /* one-shot, TSC; in the past: as soon as possible */
void time_calibrate(void);             /* TSC and APIC timer, by the PIT */
void smp_start_others(void);
void smp_call_reschedule(u32 cpu);
/* Flushes [start, end) of `mm` from the TLBs of all CPUs that may hold it; returns when done. */
void tlb_flush(struct mm *mm, u64 start, u64 end);
void smp_stop_others(void);            /* for panic */

/* fxsave and fxrstor areas. */
void fpu_init_state(void *fpu);
static inline void fpu_save(void *fpu) { __asm__ volatile("fxsave64 (%0)" ::"r"(fpu) : "memory"); }
static inline void fpu_load(const void *fpu)
{
	__asm__ volatile("fxrstor64 (%0)" ::"r"(fpu) : "memory");
}
/* Makes a new task's stack ready for its first switch: with a body, a kernel thread that calls it;
 * without, a user task that leaves by task_regs(), which the caller filled (context.c). */
void task_first_frame(struct task *task, void (*body)(void *), void *argument);
/* Loads TLS, selectors and bases of the current task, as exec, arch_prctl and others changed them
 * in struct task. */
void segments_load(struct task *task);
/* The selectors that the CPU has now, into the current task's structure. */
void segments_save(struct task *task);
/* entry.S: what the 32-bit fast path does about flags; variants other than entry-clean patch both
 * to nothing. Static calls from assembly, not to be called. */
void sysenter_clean_flags(void);
void sysexit_load_flags(void);
/* iobitmap.c; see its head for the variants. */
/* Static call key (lazy); called only if one of the two has a bitmap. */
void iobitmap_switch(struct task *prev, struct task *next);
void iobitmap_exit_to_user(void);                                    /* lazy: WORK_IO_BITMAP */
i64 sys_ioperm(u64 from, u64 count, u64 on);
i64 sys_iopl(u64 level);
int iobitmap_fork(struct task *child, struct task *parent);          /* 0 or -ENOMEM */
void iobitmap_drop(struct task *task);           /* exit and exec: no port, IOPL 0 for its eflags */
void iobitmap_apply_variant(void);
void iobitmap_init_cpu(struct percpu *cpu);                          /* its TSS denies all ports */

/* vdso.c: maps the chosen getcpu page; returns the value for AT_SYSINFO_EHDR, or 0. */
u64 vdso_map(struct mm *mm);
u64 vdso_map_compat(struct mm *mm, u64 *sysinfo); /* AT_SYSINFO of 32-bit programs */
void vdso_apply_variant(void);
void vdso_tick(void); /* CPU 0's tick: jiffies page */
/* getcpu.c: puts the CPU's number where programs read it: segment, TSC_AUX, and by variant IDT or
 * GDT limit or LDT. On that CPU, its tables loaded; vdso_apply_variant() calls it on the first. */
void getcpu_init_cpu(struct percpu *cpu);
i64 sys_getcpu(u64 cpu, u64 node, u64 cache);
/* Stops the boot if the way that was asked for can't hold max-cpus numbers, but sidt
 * becomes lsl. */
void getcpu_check_room(void);
/* Stops the boot if the CPU lacks the instruction, or keeps it from programs. */
void getcpu_check_cpu(void);
/* flags.c: flags that `syscall` clears on entry (MSR_FMASK), by variant `flags`. */
u64 flags_syscall_mask(void);
void flags_apply_variant(void);

/* trap.c: does the work noted for the current task, before user mode. exit_work() is also the key
 * of a static call, on the ways out of interrupts: the other leaves softirqs alone. Interrupts are
 * off. */
void exit_work(struct regs *regs);
void exit_work_but_softirqs(struct regs *regs);
/* Entry points in entry.S and trampoline.S. */
void entry_syscall(void);
void entry_syscall_compat(void);
void entry_sysenter(void);
void entry_int80(void);
void ret_from_fork(void);
/* To user mode with the registers at the top of the stack, by iret; for the first program. */
_Noreturn void enter_user(void);
extern const u64 exception_entries[32];

#endif

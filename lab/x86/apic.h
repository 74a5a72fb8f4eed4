/* The local APIC, between the files that drive it (Intel SDM volume 3, chapter 11). */
#ifndef LAB_APIC_H
#define LAB_APIC_H

#include "../kernel/types.h"

#define APIC_PHYS 0xfee00000ul

/* Register offsets; in x2APIC mode MSR 0x800 + offset / 16. */
#define APIC_ID 0x020
#define APIC_TASK_PRIORITY 0x080
#define APIC_EOI 0x0b0
#define APIC_SPURIOUS 0x0f0
#define APIC_COMMAND_LOW 0x300
#define APIC_COMMAND_HIGH 0x310
#define APIC_LVT_TIMER 0x320
#define APIC_LVT_LINT0 0x350
#define APIC_LVT_LINT1 0x360
#define APIC_TIMER_INITIAL 0x380
#define APIC_TIMER_CURRENT 0x390
#define APIC_TIMER_DIVIDE 0x3e0

#define APIC_SOFTWARE_ENABLE 0x100
#define APIC_LVT_MASKED 0x10000
#define APIC_LVT_NMI 0x400
#define APIC_DIVIDE_BY_1 0xb

/* Interrupt command: delivery mode, state, level, shorthand. */
#define APIC_COMMAND_INIT 0x00500
#define APIC_COMMAND_STARTUP 0x00600
#define APIC_COMMAND_PENDING 0x01000
#define APIC_COMMAND_ASSERT 0x04000
#define APIC_COMMAND_OTHERS 0xc0000

u32 apic_read(u32 offset);
void apic_write(u32 offset, u32 value);
void apic_command(u32 apic_id, u32 command);

/* Timer counts per TSC cycle, 32.32 fixed point (calibrate.c). */
extern u64 apic_per_tsc;

#endif

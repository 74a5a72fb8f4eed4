/*
 * How fast the TSC and the APIC's timer count, by the PIT, whose 1.193182 MHz is known.
 *
 * Both are read where the PIT's counter is seen to change, at the start and 0.5 ms later, so the
 * error is that of one loop's turn at either end. Between them the loop does not touch the PIT:
 * each access costs QEMU far more than an instruction. Where the clocks are not exact, the host may
 * have stopped us in between: two measurements in a row must agree. Source: Intel 8254 data sheet.
 */
#include "apic.h"
#include "x86.h"
#include "../kernel/printk.h"
#include "../kernel/time.h"

#define PIT_HZ 1193182ul
#define PIT_COUNTER_2 0x42
#define PIT_CONTROL 0x43
#define PIT_2_LATCH 0x80
#define PIT_2_RATE 0xb4   /* counter 2, two bytes, mode 2: counts down from 65535 and again */
#define PIT_GATE 0x61     /* bit 0: counter 2 runs; bit 1: to the speaker */
#define PIT_COUNTS (PIT_HZ / 2000)
#define PIT_PATIENCE 100000
#define SPIN_ROUNDS 1000
#define TRIES_MOST 100
#define AGREE_WITHIN 64u

/* Both clocks at a change of the PIT's counter. */
struct reading {
	u16 pit;
	u64 tsc;
	u32 apic;
};

struct rates {
	u64 tsc_hz, apic_per_tsc;
};

static void pit_start(void)
{
	out8(PIT_GATE, (in8(PIT_GATE) & ~2) | 1);
	out8(PIT_CONTROL, PIT_2_RATE);
	out8(PIT_COUNTER_2, 0xff);
	out8(PIT_COUNTER_2, 0xff);
}

static u16 pit_read(void)
{
	u8 low;

	out8(PIT_CONTROL, PIT_2_LATCH);
	low = in8(PIT_COUNTER_2);
	return low | in8(PIT_COUNTER_2) << 8;
}

static struct reading read_at_change(void)
{
	struct reading r;
	u16 before = pit_read();
	u32 tries = 0;

	do {
		r.pit = pit_read();
		r.tsc = read_tsc();
		r.apic = apic_read(APIC_TIMER_CURRENT);
		if (++tries == PIT_PATIENCE)
			panic("the PIT's counter 2 does not count; QEMU's microvm needs pit=on");
	} while (r.pit == before);
	return r;
}

static void spin(u32 rounds)
{
	while (rounds--)
		barrier();
}

static struct rates measure(void)
{
	struct reading start, end;
	u64 pit, tsc;

	start = read_at_change();
	do
		spin(SPIN_ROUNDS);
	while ((u16)(start.pit - pit_read()) < PIT_COUNTS);
	end = read_at_change();
	pit = (u16)(start.pit - end.pit);
	tsc = end.tsc - start.tsc;
	if (pit == 0) /* stopped for just one of the PIT's rounds of 55 ms */
		return (struct rates){ 0 };
	return (struct rates){
		.tsc_hz = tsc * PIT_HZ / pit,
		.apic_per_tsc = ((u64)(start.apic - end.apic) << 32) / tsc,
	};
}

static bool agree(u64 a, u64 b)
{
	return max(a, b) - min(a, b) < a / AGREE_WITHIN;
}

void time_calibrate(void)
{
	struct rates rates, before;
	u32 tries = 0;

	pit_start();
	apic_write(APIC_LVT_TIMER, APIC_LVT_MASKED | VECTOR_TIMER);
	apic_write(APIC_TIMER_INITIAL, UINT32_MAX);
	rates = measure();
	do {
		before = rates;
		rates = measure();
		if (++tries == TRIES_MOST)
			panic("the TSC's rate differs each time: %lu, %lu Hz", before.tsc_hz,
			      rates.tsc_hz);
	} while (!agree(rates.tsc_hz, before.tsc_hz) ||
		 !agree(rates.apic_per_tsc, before.apic_per_tsc));
	apic_write(APIC_TIMER_INITIAL, 0);
	apic_write(APIC_LVT_TIMER, VECTOR_TIMER);
	tsc_hz = rates.tsc_hz;
	apic_per_tsc = rates.apic_per_tsc;
	printk("TSC %lu kHz, APIC timer %lu kHz\n", tsc_hz / 1000,
	       (tsc_hz / 1000 * (apic_per_tsc >> 8)) >> 24);
}

/*
 * The I/O APIC, of which the kernel needs no more than a line or two: all are masked from the
 * start, and a driver has its own routed. QEMU's machines have it at the usual place.
 *
 * Source: Intel 82093AA I/O APIC datasheet, 3.
 */
#include "../kernel/page.h"
#include "apic.h"
#include "x86.h"

#define IOAPIC_PHYS 0xfec00000ul
#define IOAPIC_SELECT (0x00 / 4)
#define IOAPIC_WINDOW (0x10 / 4)

/* Registers, through the window */
#define IOAPIC_VERSION 0x01
#define IOAPIC_LAST_LINE(version) ((version) >> 16 & 0xff)
#define IOAPIC_REDIRECTION(line) (0x10 + 2 * (line)) /* and the next */

/* Redirection, low half; delivery fixed, destination physical, active high */
#define IOAPIC_LEVEL 0x08000
/* High half */
#define IOAPIC_DESTINATION(apic_id) ((apic_id) << 24)

bool ioapic_route(u32 line, u32 vector, u32 apic_id)
{
	volatile u32 *ioapic = device_map(IOAPIC_PHYS);

	ioapic[IOAPIC_SELECT] = IOAPIC_VERSION;
	if (line > IOAPIC_LAST_LINE(ioapic[IOAPIC_WINDOW]))
		return false;
	ioapic[IOAPIC_SELECT] = IOAPIC_REDIRECTION(line) + 1;
	ioapic[IOAPIC_WINDOW] = IOAPIC_DESTINATION(apic_id);
	ioapic[IOAPIC_SELECT] = IOAPIC_REDIRECTION(line);
	ioapic[IOAPIC_WINDOW] = IOAPIC_LEVEL | vector; /* no longer masked */
	return true;
}

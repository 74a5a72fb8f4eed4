/*
 * Code that the kernel gives to programs: the vDSO with __vdso_getcpu, and the page by which 32-bit
 * programs enter the kernel.
 *
 * Of the eighteen getcpu images in vdso/ the one that the variants choose is copied to a page at
 * boot, where node-bits is written into its instructions; then it never changes. All programs share
 * that page and the data page after it, read-only. The kernel writes the data page through its own
 * mapping: the tick counter at each tick of CPU 0, and the CPUs' numbers as they start.
 *
 * Sources: vdso(7); Linux arch/x86/entry/vdso/. TRICKS.md, "The cache of getcpu", for its races.
 */
#include "vdso.h"
#include "../kernel/mm.h"
#include "../kernel/page.h"
#include "../kernel/variants.h"
#include "../kernel/printk.h"
#include "../kernel/time.h"
#include "x86.h"
#include "cpu.h"
#include "percpu.h"

#define VDSO_CODE_FLAGS (AREA_READ | AREA_EXEC | AREA_PINNED)
#define VDSO_DATA_FLAGS (AREA_READ | AREA_PINNED)

struct vdso_image {
	const void *start;
	u64 size;
};

/* In images.S: without and with the cache. */
extern const struct vdso_image vdso_images[GETCPU_SLDT + 1][2];
extern const struct vdso_image vdso_mode_images[2];

/* In vsyscall32.S. */
extern const u8 vsyscall32_syscall[], vsyscall32_sysenter[], vsyscall32_int80[];

struct vdso_data {
	u64 ticks;
	u8 hole[VDSO_CPU_VALUES - sizeof(u64)]; /* the tick's cache line is its own */
	u32 cpu_value[256];                     /* by initial APIC id */
	u32 mode;                               /* getcpu-mode=on: VDSO_MODE_* */
};

_Static_assert(offsetof(struct vdso_data, ticks) == VDSO_TICKS, "getcpu.S");
_Static_assert(offsetof(struct vdso_data, cpu_value) == VDSO_CPU_VALUES, "getcpu.S");
_Static_assert(offsetof(struct vdso_data, mode) == VDSO_MODE, "getcpu.S");
_Static_assert(sizeof(struct vdso_data) <= PAGE_SIZE, "one page");
_Static_assert(VDSO_IMAGE_SIZE == PAGE_SIZE, "one page");

/* After the image's headers: ways from each field to an immediate in the code, 0 for none. */
struct vdso_patches {
	i32 shift;      /* u8: node-bits */
	i32 mask;       /* u32: mask of the node */
	i32 shift_back; /* u8: node-bits */
};

#define ELF64_HEADER_SIZE 64
#define ELF64_PROGRAM_HEADER_SIZE 56
#define VDSO_PROGRAM_HEADERS 2

static u8 *image;              /* the chosen one's page */
static struct vdso_data *data; /* the next: order 1, so both are neighbours */
static u8 *vsyscall32;

static void patch(const i32 *field, const void *value, u64 size)
{
	if (*field)
		memcpy((u8 *)field + *field, value, size);
}

static void patch_node_bits(void)
{
	const struct vdso_patches *patches =
		(const void *)(image + ELF64_HEADER_SIZE +
			       VDSO_PROGRAM_HEADERS * ELF64_PROGRAM_HEADER_SIZE);
	u8 bits = variants.node_bits;
	u32 mask = (1u << bits) - 1;

	patch(&patches->shift, &bits, sizeof(bits));
	patch(&patches->mask, &mask, sizeof(mask));
	patch(&patches->shift_back, &bits, sizeof(bits));
}

static const u8 *vsyscall32_form(void)
{
	if (cpu_features.amd)
		return vsyscall32_syscall;
	return cpu_features.sysenter ? vsyscall32_sysenter : vsyscall32_int80;
}

void vdso_apply_variant(void)
{
	const struct vdso_image *images =
		variants.getcpu_mode ? vdso_mode_images : vdso_images[variants.getcpu];
	const struct vdso_image *chosen = &images[variants.getcpu_cache];

	image = page_alloc_zeroed(1);
	vsyscall32 = page_alloc_zeroed(0);
	assert(image && vsyscall32 && chosen->size <= VDSO_IMAGE_SIZE);
	memcpy(image, chosen->start, chosen->size);
	patch_node_bits();
	data = (struct vdso_data *)(image + VDSO_IMAGE_SIZE);
	data->ticks = 1; /* a caller's cache that is all zero holds no answer */
	data->mode = variants.getcpu == GETCPU_RDTSCP ? VDSO_MODE_RDTSCP : VDSO_MODE_LSL;
	memcpy(vsyscall32, vsyscall32_form(), VSYSCALL32_SIZE);
	getcpu_init_cpu(this_cpu());
}

void vdso_set_cpu_value(u32 apic_id, u32 value)
{
	data->cpu_value[apic_id & 0xff] = value; /* CPUID leaf 1 gives eight bits */
}

void vdso_tick(void)
{
	WRITE_ONCE(data->ticks, data->ticks + 1);
}

u64 vdso_map(struct mm *mm)
{
	/* Both pages find a place together; then the data page loses the right to execute. */
	i64 address = mm_map_pinned(mm, 0, virt_to_phys(image), 2, VDSO_CODE_FLAGS);

	if (address < 0 || mm_map_pinned(mm, address + VDSO_IMAGE_SIZE, virt_to_phys(data), 1,
					 VDSO_DATA_FLAGS) < 0)
		return 0;
	return address;
}

u64 vdso_map_compat(struct mm *mm, u64 *sysinfo)
{
	*sysinfo = 0;
	if (mm_map_pinned(mm, VSYSCALL32_PAGE, virt_to_phys(vsyscall32), 1, VDSO_CODE_FLAGS) < 0)
		return 0;
	*sysinfo = VSYSCALL32_PAGE;
	return 0;
}

/*
 * ELF programs, 64-bit and 32-bit, static: fixed, or position-independent without an interpreter.
 *
 * The file is hostile: each field is checked before it is used, sums are formed only of what was
 * compared with a bound. Both layouts are read into one form first. Stricter than Linux: segments
 * ascend and share no page.
 *
 * Sources: System V ABI, chapters 4 and 5, and its AMD64 and Intel386 supplements; Linux
 * fs/binfmt_elf.c.
 */
#include "elf.h"

#include "page.h"
#include "syscall.h"

#define ELF_MAGIC 0x464c457fu /* "\x7f" "ELF" */
#define ELFCLASS32 1
#define ELFCLASS64 2
#define ELFDATA2LSB 1
#define EV_CURRENT 1
#define ET_EXEC 2
#define ET_DYN 3
#define EM_386 3
#define EM_X86_64 62
#define PT_LOAD 1
#define PT_INTERP 3
#define PF_X 1u
#define PF_W 2u
#define PF_R 4u

#define MAX_PROGRAM_HEADERS 64

/* Where position-independent programs go: what Linux has without randomisation. */
#define BIAS 0x0000555555554000ul
#define BIAS_32 0x56555000ul

struct elf64_header {
	u32 magic;
	u8 class, data, ident_version, rest[9];
	u16 type, machine;
	u32 version;
	u64 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf32_header {
	u32 magic;
	u8 class, data, ident_version, rest[9];
	u16 type, machine;
	u32 version;
	u32 entry, phoff, shoff;
	u32 flags;
	u16 ehsize, phentsize, phnum, shentsize, shnum, shstrndx;
};

struct elf64_segment {
	u32 type, flags;
	u64 offset, vaddr, paddr, filesz, memsz, align;
};

struct elf32_segment {
	u32 type;
	u32 offset, vaddr, paddr, filesz, memsz, flags, align;
};

_Static_assert(sizeof(struct elf64_header) == 64 && sizeof(struct elf64_segment) == 56, "ELF");
_Static_assert(sizeof(struct elf32_header) == 52 && sizeof(struct elf32_segment) == 32, "ELF");

/* What both kinds hold. */
struct elf {
	const u8 *file;
	u64 size; /* bytes */
	bool compat;
	u16 type, machine;
	u32 version;
	u64 entry, phoff;
	u16 ehsize, phentsize, phnum;
	u64 bias, top;
};

#define READ_HEADER(elf, header)                                                                   \
	do {                                                                                       \
		(elf)->type = (header).type;                                                       \
		(elf)->machine = (header).machine;                                                 \
		(elf)->version = (header).version;                                                 \
		(elf)->entry = (header).entry;                                                     \
		(elf)->phoff = (header).phoff;                                                     \
		(elf)->ehsize = (header).ehsize;                                                   \
		(elf)->phentsize = (header).phentsize;                                             \
		(elf)->phnum = (header).phnum;                                                     \
	} while (0)

static bool read_header(struct elf *elf)
{
	struct elf64_header wide;
	struct elf32_header narrow;

	if (elf->size < sizeof(wide)) /* both kinds, with a program header, have more */
		return false;
	memcpy(&wide, elf->file, sizeof(wide));
	memcpy(&narrow, elf->file, sizeof(narrow));
	if (wide.magic != ELF_MAGIC || wide.data != ELFDATA2LSB ||
	    wide.ident_version != EV_CURRENT)
		return false;
	elf->compat = wide.class == ELFCLASS32;
	if (elf->compat)
		READ_HEADER(elf, narrow);
	else
		READ_HEADER(elf, wide);
	return elf->compat || wide.class == ELFCLASS64;
}

static bool header_valid(const struct elf *elf)
{
	u64 header = elf->compat ? sizeof(struct elf32_header) : sizeof(struct elf64_header);
	u64 entry = elf->compat ? sizeof(struct elf32_segment) : sizeof(struct elf64_segment);

	return (elf->type == ET_EXEC || elf->type == ET_DYN) &&
	       elf->machine == (elf->compat ? EM_386 : EM_X86_64) &&
	       elf->version == EV_CURRENT && elf->ehsize == header && elf->phentsize == entry &&
	       elf->phnum > 0 && elf->phnum <= MAX_PROGRAM_HEADERS && elf->phoff <= elf->size &&
	       elf->phnum * entry <= elf->size - elf->phoff;
}

static struct elf64_segment read_segment(const struct elf *elf, unsigned index)
{
	const u8 *from = elf->file + elf->phoff + index * elf->phentsize;
	struct elf64_segment wide;
	struct elf32_segment narrow;

	if (!elf->compat) {
		memcpy(&wide, from, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, from, sizeof(narrow));
	return (struct elf64_segment){
		narrow.type, narrow.flags, narrow.offset, narrow.vaddr,
		narrow.paddr, narrow.filesz, narrow.memsz, narrow.align,
	};
}

/* Inside the file, inside user space after `floor`, alignment a power of two that both offset and
 * address obey. */
static bool segment_valid(const struct elf *elf, const struct elf64_segment *segment, u64 floor)
{
	u64 space = elf->top - elf->bias;
	u64 align = segment->align;

	if (segment->filesz > segment->memsz || segment->offset > elf->size ||
	    segment->filesz > elf->size - segment->offset)
		return false;
	if (segment->vaddr > space || segment->memsz > space - segment->vaddr ||
	    align_down(segment->vaddr + elf->bias, PAGE_SIZE) < floor)
		return false;
	return !(align & (align - 1)) &&
	       (align < 2 || !((segment->vaddr - segment->offset) & (align - 1)));
}

/* All of them, before anything is mapped; fills in what the program is told of itself. */
static bool check_segments(struct elf *elf, struct elf_program *program)
{
	u64 floor = USER_LOWEST;
	bool entry_loaded = false;

	for (unsigned i = 0; i < elf->phnum; i++) {
		struct elf64_segment segment = read_segment(elf, i);

		if (segment.type == PT_INTERP)
			return false;
		if (segment.type != PT_LOAD || !segment.memsz)
			continue;
		if (!segment_valid(elf, &segment, floor))
			return false;
		floor = align_up(elf->bias + segment.vaddr + segment.memsz, PAGE_SIZE);
		if (elf->entry - segment.vaddr < segment.memsz)
			entry_loaded = true;
		if (segment.offset <= elf->phoff &&
		    elf->phoff - segment.offset < segment.filesz)
			program->headers = elf->bias + segment.vaddr + elf->phoff - segment.offset;
	}
	program->end = floor;
	return entry_loaded && floor <= elf->top;
}

static i64 load_segment(const struct elf *elf, const struct elf64_segment *segment, struct mm *mm)
{
	u64 address = elf->bias + segment->vaddr;
	u64 start = align_down(address, PAGE_SIZE);
	u64 end = align_up(address + segment->memsz, PAGE_SIZE);
	u32 flags = (segment->flags & PF_R ? AREA_READ : 0) |
		    (segment->flags & PF_W ? AREA_WRITE : 0) |
		    (segment->flags & PF_X ? AREA_EXEC : 0);
	i64 mapped = mm_map(mm, start, end - start, flags,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE);

	if (mapped < 0)
		return mapped;
	return mm_write(mm, address, elf->file + segment->offset, segment->filesz);
}

i64 elf_load(const u8 *file, u64 size, struct mm *mm, struct elf_program *program)
{
	struct elf elf = { .file = file, .size = size };

	if (!read_header(&elf) || !header_valid(&elf))
		return -ENOEXEC;
	elf.top = elf.compat ? USER_TOP_32 : USER_TOP;
	if (elf.type == ET_DYN)
		elf.bias = elf.compat ? BIAS_32 : BIAS;
	*program = (struct elf_program){
		.compat = elf.compat,
		.entry = elf.bias + elf.entry,
		.header_size = elf.phentsize,
		.header_count = elf.phnum,
	};
	if (!check_segments(&elf, program))
		return -ENOEXEC;
	mm->compat = elf.compat;
	for (unsigned i = 0; i < elf.phnum; i++) {
		struct elf64_segment segment = read_segment(&elf, i);
		i64 error;

		if (segment.type != PT_LOAD || !segment.memsz)
			continue;
		error = load_segment(&elf, &segment, mm);
		if (error)
			return error;
	}
	return 0;
}

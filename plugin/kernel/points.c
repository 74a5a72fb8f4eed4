/*
 * The table of points: how it is read, and what is looked up in it.
 */
#include "kernel/points.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "arch/arch.h"

struct point points[MOST_POINTS];
size_t point_count;
static struct range entry_code[MOST_RANGES], idle_code[MOST_RANGES];
static size_t entry_count, idle_count;
static struct range switch_code;
struct window_asked windows_asked[MOST_WINDOWS];
static uint8_t window_of[MOST_POINT_PATHS];	/* by the path's index, plus 1; 0: none */
bool returns_wanted;

static int by_address(const void *one, const void *other)
{
	const struct point *a = one, *b = other;

	return (a->address > b->address) - (a->address < b->address);
}

static bool add_range(struct range *ranges, size_t *count, const unsigned long long *numbers)
{
	if (*count == MOST_RANGES)
		return false;
	ranges[*count] = (struct range){ numbers[0], numbers[1] };
	++*count;
	return true;
}

static bool add_point(char kind, const unsigned long long *numbers)
{
	if (point_count == MOST_POINTS || numbers[0] >= MOST_WINDOWS)
		return false;
	points[point_count++] = (struct point){
		.address = numbers[1], .from = { numbers[2], numbers[3] }, .window = numbers[0],
		.begins = kind == 'b' || kind == 'B', .at_return = kind == 'B' || kind == 'E',
	};
	returns_wanted |= kind == 'B' || kind == 'E';
	return true;
}

static bool read_fact(const char *line)
{
	unsigned long long numbers[4];
	char kind;
	int count = sscanf(line, "%c %llx %llx %llx %llx", &kind, &numbers[0], &numbers[1],
			   &numbers[2], &numbers[3]);

	switch (count == 5 || count == 3 ? kind : 0) {
	case 's':
		switch_code = (struct range){ numbers[0], numbers[1] };
		return true;
	case 'i':
		return add_range(entry_code, &entry_count, numbers);
	case 'd':
		return add_range(idle_code, &idle_count, numbers);
	case 'w':
		if (numbers[0] >= MOST_WINDOWS || count != 5)
			return false;
		windows_asked[numbers[0]].origins = numbers[1];
		windows_asked[numbers[0]].same_task = numbers[2] & 1;
		windows_asked[numbers[0]].latest = numbers[2] & 2;
		windows_asked[numbers[0]].stamped = numbers[2] & 4;
		windows_asked[numbers[0]].nth = numbers[3];
		return true;
	case 'b': case 'e': case 'B': case 'E':
		return count == 5 && add_point(kind, numbers);
	case 'U':
		if (numbers[0] >= MOST_WINDOWS)
			return false;
		windows_asked[numbers[0]].ends_in_program = true;
		return true;
	case 'p':
		if (numbers[0] >= MOST_POINT_PATHS || numbers[1] >= MOST_WINDOWS)
			return false;
		window_of[numbers[0]] = numbers[1] + 1;
		return true;
	default:
		return false;
	}
}

bool read_points(int fd)
{
	FILE *file = lseek(fd, 0, SEEK_SET) ? NULL : fdopen(fd, "r");
	char line[128];
	bool good = file != NULL;

	while (good && fgets(line, sizeof(line), file))
		good = read_fact(line);
	if (file)
		fclose(file);
	qsort(points, point_count, sizeof(*points), by_address);
	return good;
}

size_t first_point(uint64_t address)
{
	size_t low = 0, high = point_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (points[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool is_point(uint64_t address)
{
	size_t point = first_point(address);

	return point < point_count && points[point].address == address;
}

static bool is_within(uint64_t address, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (address >= ranges[i].first && address < ranges[i].end)
			return true;
	return false;
}

bool is_entry(uint64_t address)
{
	return is_within(address, entry_code, entry_count);
}

bool is_idle(uint64_t address)
{
	return is_within(address, idle_code, idle_count);
}

bool switches_task(const struct instruction *instruction, uint64_t address)
{
	return is_within(address, &switch_code, 1) && loads_stack(instruction);
}

uint32_t begin_anew(uint32_t windows)
{
	uint32_t anew = 0;

	for (size_t window = 0; windows >> window; window++)
		anew |= (uint32_t)windows_asked[window].latest << window;
	return anew & windows;
}

uint32_t window_of_path(uint64_t path)
{
	uint8_t window = path < MOST_POINT_PATHS ? window_of[path] : 0;

	return window ? 1u << (window - 1) : 0;
}

uint32_t all_windows(void)
{
	uint32_t all = 0;

	for (size_t i = 0; i < point_count; i++)
		all |= 1u << points[i].window;
	return all;
}

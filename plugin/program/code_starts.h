/*
 * Where functions begin, as the host found it in symbol tables: the kernel's, and those of the
 * packed files. A tree counts by functions (call_tree.h): it would have far more cells and nodes by
 * blocks. What is not known to begin costs room, and no truth: the host has the names.
 */
#ifndef PLUGIN_CODE_STARTS_H
#define PLUGIN_CODE_STARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The functions that begin in a page of a program's code. */
struct page_starts {
	uint64_t hash;		/* of what is in the page */
	uint32_t first, count;	/* of their places in it */
};

/* Reads a line of the table of places; false if it is none of these. They are ascending. */
bool read_kernel_start(FILE *file);
bool read_page_starts(FILE *file);

/* The last start at or before the kernel's address; that address if there is none. */
uint64_t kernel_start(uint64_t address);

/* Those of the page with this hash; NULL if none are known. */
const struct page_starts *starts_of_page(uint64_t hash);

/* The last of them at or before this place in the page; 0 if there is none, as of a function that
 * began in another page. */
uint32_t start_in_page(const struct page_starts *starts, uint32_t place);

#endif

/*
 * The wanted paths, and the stream of the one that is being recorded.
 */
#ifndef PLUGIN_JOB_H
#define PLUGIN_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "common/linkage.h"

/* A wanted execution of a path, which is its first one after `pass` others. */
struct job {
	uint64_t path, pass, take, warm;
	int fd;
};

enum { MAX_JOBS = 256 };	/* as many paths as a plan has: crates/wire/src/message.rs */
extern HIDDEN struct job jobs[MAX_JOBS];
/* jobs[current] is next, or being recorded while armed. */
extern HIDDEN unsigned int job_count, current;

struct limits {		/* of every job */
	uint64_t skip, bytes_limit, window_limit;
};
extern HIDDEN struct limits limits;

extern HIDDEN int alarm_fd;
extern HIDDEN uint64_t windows_seen, windows_whole;
extern HIDDEN bool armed, inside;

extern HIDDEN uint64_t executed;	/* in this window */
extern HIDDEN int64_t last_number;	/* of the last instruction written in this window, or -1 */
extern HIDDEN int64_t run_first;	/* a run not yet written ... */
extern HIDDEN uint64_t run_count;	/* ... empty if this is 0 */
extern HIDDEN uint64_t last_address;

extern HIDDEN uint32_t code_count;	/* instructions that the stream has defined */

enum tag { INSN = 1, BEGIN, END, RUN, LOAD, STORE, STOP, BEGIN_WHOLE, DROP, BEGIN_STAMPED };
enum why { ALL_RECORDED = 0, BYTE_LIMIT, WINDOW_LIMIT };

void record(enum tag tag);

void put_run(void);

/* Ends the stream of this job; the next one waits for its path. */
void stop(enum why why);

/* Begins the stream of the next job: instructions are numbered anew. */
void arm(void);

#endif

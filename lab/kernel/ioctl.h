/*
 * ioctl(2): from the descriptor to the driver, for 64-bit and for 32-bit programs.
 *
 * The variant of `ioctl` decides whether the native call runs under the big kernel lock; that of
 * `compat-ioctl` decides how a 32-bit program's call finds its handler:
 *
 *   hash-bkl       its number is looked up in a global table under the big kernel lock. A handler
 *                  that is registered there is called under it too. For a command that looks the
 *                  same to both kinds of programs the lock is released, and the native call is
 *                  made, which may take it again: Linux until 2.6.10
 *   hash-unlocked  without the lock; who takes a command out waits until no lookup can be on it:
 *                  "RCU is needed for the cleanup", as Andi Kleen put it in the thread of 2004
 *   hash-bare      the lock is just removed, and nobody waits: what he proposed to try, and safe
 *                  as long as nothing is taken out
 *   flag           the driver's one ioctl is told whether the call is a 32-bit program's
 *   entry          the driver has an entry point of its own for them: Linux since 2.6.11
 */
#ifndef LAB_IOCTL_H
#define LAB_IOCTL_H

#include "file.h"
#include "types.h"

typedef i64 (*ioctl_handler)(struct file *file, u32 command, u64 argument);

/* `handler` of a command that looks the same to both: the driver's native ioctl is called. */
#define SAME_LAYOUT NULL

/*
 * Under hash-*: from now on `handler` serves 32-bit programs' calls with that
 * number, whatever file they are for; so it must check whether the file is its own, and hand over
 * to ioctl_native() if not. Returns 0, -ENOMEM, or -EBUSY if the number already has a handler; then
 * a message names `owner`. Under the other variants the table is not used: returns 0, and does
 * nothing.
 */
i64 compat_ioctl_register(u32 command, ioctl_handler handler, const char *owner);
/* After it no new call finds the number; one that has found it may still be at work. Only for
 * kernel threads. 0, or -ENOENT if it was not registered. */
i64 compat_ioctl_unregister(u32 command);
/* As the 64-bit call does it in this boot's variant, -ENOTTY included. */
i64 ioctl_native(struct file *file, u32 command, u64 argument);

/* Patches the calls, and registers the commands of drivers that the lab lacks:
 * `compat-ioctl-handlers` and `compat-ioctl-collisions`. After the real ones are registered. */
void ioctl_apply_variant(void);
/* Whether there is a table: hash-*. */
bool ioctl_table_is_used(void);
/* Starts a thread that registers and unregisters: for ever by `test.ioctl-churn`, else as
 * LAB_COMMANDS asks for it. */
void ioctl_start_churn(void);
/* LAB_COMMANDS. */
i64 ioctl_commands(u64 what);

#endif

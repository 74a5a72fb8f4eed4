/*
 * The state of the accounts.
 */
#include "program/task.h"

struct account account;

void lose(enum lost why)
{
	if (!account.lost)
		account.lost = why;
}

/*
 * The seam between the plugins and the guest's architecture. What is in its folder is all that they
 * know of it, and they include it from here. A second architecture would have the same files:
 *
 *   instruction.h  QEMU's name of the architecture; an instruction's bytes, where control goes
 *                  after it, and what it accesses
 *   marker.h       the probes' markers, and the loads after a region's
 *   entry.h        how the kernel is entered and left and goes from task to task, and where its
 *                  text is in RAM
 *   form.h         the part of an instruction that decides which events it is
 *   request.h      the instructions of Callgrind's client requests
 */
#ifndef PLUGIN_ARCH_H
#define PLUGIN_ARCH_H

#include "arch/x86_64/entry.h"
#include "arch/x86_64/form.h"
#include "arch/x86_64/instruction.h"
#include "arch/x86_64/marker.h"
#include "arch/x86_64/request.h"

#endif

/*
 * Which of its functions the program plugin has QEMU call where. Until the first path announces
 * itself, only markers are instrumented.
 */
#ifndef PLUGIN_TRANSLATION_H
#define PLUGIN_TRANSLATION_H

#include "common/qemu.h"

void translate_markers(struct qemu_plugin_tb *tb);

#endif

/*
 * Which of its functions the counter has QEMU call where.
 *
 * Until the first path announces itself by a marker, only markers are instrumented, so that the way
 * there costs next to nothing. Then the plugin resets itself once and instruments everything.
 */
#ifndef PLUGIN_TRANSLATION_H
#define PLUGIN_TRANSLATION_H

#include "common/qemu.h"

void translate_markers(struct qemu_plugin_tb *tb);

#endif

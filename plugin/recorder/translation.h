/*
 * Which of its functions the recorder has QEMU call where.
 *
 * Until the probe of the first wanted path announces itself by a marker, only markers are
 * instrumented, so that the way there costs next to nothing. Then the plugin resets itself once and
 * instruments everything; a second reset with memory callbacks installed aborts QEMU 7.2, so there
 * is none.
 */
#ifndef PLUGIN_TRANSLATION_H
#define PLUGIN_TRANSLATION_H

#include "common/qemu.h"

void translate_markers(struct qemu_plugin_tb *tb);

#endif

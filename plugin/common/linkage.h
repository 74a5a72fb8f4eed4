/*
 * Who sees a name of a plugin: QEMU what is EXPORT, nobody but the plugin's own files what is not.
 * HIDDEN tells so where a variable is declared, so that it is reached directly.
 */
#ifndef PLUGIN_LINKAGE_H
#define PLUGIN_LINKAGE_H

#define EXPORT __attribute__((visibility("default")))
#define HIDDEN __attribute__((visibility("hidden")))

/* Of a function that is called at each block or access of the guest's: part of its caller, since
 * the units are compiled as one (crates/vm/build.rs). */
#define HOT inline __attribute__((always_inline))

#endif

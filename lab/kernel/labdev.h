/* Two drivers that are all ioctl: uapi/labdev.h describes what they do. */
#ifndef LAB_LABDEV_H
#define LAB_LABDEV_H

#include "file.h"

extern const struct file_operations labdev_operations, labtwin_operations;
/* /dev/labdev and /dev/labdev1: the data of their open files. */
extern struct labdev labdev_0, labdev_1;
/* Register their commands for 32-bit programs. */
void labdev_init(void);
void labtwin_init(void);

#endif

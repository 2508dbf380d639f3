/* SPDX-License-Identifier: MIT */
/* Fork handlers of a library; see kf03_handlers.c. */
#ifndef SLUB_TESTS_KF03_HANDLERS_H
#define SLUB_TESTS_KF03_HANDLERS_H

enum kf03_when { KF03_PREPARE, KF03_PARENT, KF03_CHILD };

extern void (*kf03_handler)(enum kf03_when when);

#endif

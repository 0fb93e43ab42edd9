/*
 * version - which library this is.
 *
 * CG_ABI_VERSION changes with every release that adds a function or a field;
 * CG_ABI_OLDEST is the oldest value a program may have been built against.
 */
#ifndef CANDLEGRAPH_VERSION_H
#define CANDLEGRAPH_VERSION_H

/* The version: CG_VERSION_MAJOR, CG_VERSION_MINOR and CG_VERSION_PATCH with dots between them. */
#define CG_VERSION_MAJOR 0
#define CG_VERSION_MINOR 1
#define CG_VERSION_PATCH 0
/* The same as text; cg_version() is that of the library that runs. */
#define CG_VERSION_TEXT "0.1.0"

/* What a program that includes this file is built against. */
#define CG_ABI_VERSION 1
/* The least CG_ABI_VERSION of a program that works with this release. */
#define CG_ABI_OLDEST 1

#endif

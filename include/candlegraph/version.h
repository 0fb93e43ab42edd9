/*
 * version - which library this is.
 *
 * CG_ABI_VERSION changes with every release that adds a function or a field;
 * CG_ABI_OLDEST is the oldest value a program may have been built against.
 */
#ifndef CANDLEGRAPH_VERSION_H
#define CANDLEGRAPH_VERSION_H

#define CG_VERSION_MAJOR 0
#define CG_VERSION_MINOR 1
#define CG_VERSION_PATCH 0
#define CG_VERSION_TEXT  "0.1.0"

#define CG_ABI_VERSION 1
#define CG_ABI_OLDEST  1

#endif

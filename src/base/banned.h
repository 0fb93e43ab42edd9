/*
 * banned - calls that never appear in this project; included before every
 * source file by the build. The name of the error says where to read why.
 */
#ifndef CG_BASE_BANNED_H
#define CG_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CG_BANNED(function) cg_banned_##function##_see_contributing_md

#undef strcpy
#define strcpy(a, b) CG_BANNED(strcpy)
#undef strcat
#define strcat(a, b) CG_BANNED(strcat)
#undef strncpy
#define strncpy(a, b, n) CG_BANNED(strncpy)
#undef strncat
#define strncat(a, b, n) CG_BANNED(strncat)
#undef strtok
#define strtok(a, b) CG_BANNED(strtok)
#undef sprintf
#define sprintf(...) CG_BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) CG_BANNED(vsprintf)
#undef gets
#define gets(a) CG_BANNED(gets)
#undef atoi
#define atoi(a) CG_BANNED(atoi)
#undef atol
#define atol(a) CG_BANNED(atol)
#undef atof
#define atof(a) CG_BANNED(atof)
#undef sscanf
#define sscanf(...) CG_BANNED(sscanf)
#undef alloca
#define alloca(n) CG_BANNED(alloca)
#undef system
#define system(a) CG_BANNED(system)
#undef setlocale
#define setlocale(a, b) CG_BANNED(setlocale)

#ifndef CG_BANNED_EXEMPT
#undef malloc
#define malloc(n) CG_BANNED(malloc)
#undef calloc
#define calloc(n, m) CG_BANNED(calloc)
#undef realloc
#define realloc(p, n) CG_BANNED(realloc)
#undef free
#define free(p) CG_BANNED(free)
#endif

#endif

#include "support/complaint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

unsigned complaints;

void complain(const char *format, ...)
{
    va_list arguments;

    if (++complaints > 40)
        return;
    va_start(arguments, format);
    vprint_error(format, arguments);
    va_end(arguments);
    print_error("\n");
}

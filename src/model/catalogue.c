#include "model/catalogue.h"

uint32_t catalogue_version(cg_str text)
{
    uint32_t part[3] = {0, 0, 0};
    size_t which = 0;
    bool has_digit = false;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c >= '0' && c <= '9' && part[which] < 1000) {
            part[which] = part[which] * 10 + (uint32_t)(c - '0');
            has_digit = true;
        } else if (c == '.' && has_digit && which < 2) {
            which++;
            has_digit = false;
        } else if ((c == '-' || c == '+') && has_digit && which == 2) {
            break;
        } else {
            return 0;
        }
    }
    if (which == 0 || !has_digit || part[1] > 1023 || part[2] > 1023 || part[0] > 1023)
        return 0;
    return CATALOGUE_VERSION(part[0], part[1], part[2]);
}

bool catalogue_is_verified(uint32_t candle_nn)
{
    static const uint32_t read[] = {
        CATALOGUE_VERSION(0, 8, 4),  CATALOGUE_VERSION(0, 9, 1),  CATALOGUE_VERSION(0, 9, 2),
        CATALOGUE_VERSION(0, 10, 2), CATALOGUE_VERSION(0, 11, 0), CATALOGUE_VERSION(0, 11, 1),
    };

    for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
        if (read[i] == candle_nn)
            return true;
    }
    return false;
}

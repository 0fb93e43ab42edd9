/*
 * scanned - a little crate, scanned: its document, and findings as text.
 *
 *   scanned s;
 *   scanned_begin(&s, "pub struct Net { .. }");
 *   scanned_says(&s, "gradient-cut", "Net::loss", "RmsNorm::forward always proven warning | ...");
 *   scanned_end(&s);
 */
#ifndef CG_TESTS_UNIT_MODEL_SCANNED_H
#define CG_TESTS_UNIT_MODEL_SCANNED_H

#include "model/scan.h"

#include "unit/model/little.h"

#define SCANNED_PRELUDE                                                                            \
    "use candle_core::{DType, Device, IndexOp, Result, Tensor, Var, D};\n"                         \
    "use candle_nn::{embedding, layer_norm, layer_norm_no_bias, linear, linear_no_bias, loss, "    \
    "ops, rms_norm, rotary_emb, Embedding, LayerNorm, Linear, Module, ModuleT, Optimizer, "        \
    "RmsNorm, VarBuilder, SGD};\n"

typedef struct scanned {
    little crate;
    scan *scan;
} scanned;

/* A crate whose file `root` holds `text`; `other`, unless NULL, is a program that does nothing. */
static inline void scanned_begin_in(scanned *self, const char *root, const char *text,
                                    const char *other)
{
    scan_options options = {0};
    cg_err err = {0};

    little_begin(&self->crate);
    little_write(&self->crate, "Cargo.toml",
                 "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"
                 "[dependencies]\ncandle-core = \"0.11\"\ncandle-nn = \"0.11\"\n");
    little_write(&self->crate, root, text);
    if (other)
        little_write(&self->crate, other, "fn main() {}\n");
    assert_int_equal(
        scan_open(&self->crate.env, str_from(self->crate.root), &options, &self->scan, &err),
        CG_OK);
}

static inline void scanned_begin(scanned *self, const char *items)
{
    static char text[32768];

    snprintf(text, sizeof text, "%s%s", SCANNED_PRELUDE, items);
    scanned_begin_in(self, "src/lib.rs", text, NULL);
}

static inline void scanned_end(scanned *self)
{
    scan_free(self->scan);
    little_end(&self->crate);
}

static inline const model_doc *scanned_doc(const scanned *self)
{
    return &scan_document(self->scan)->doc;
}

/* The finding of a rule in a function (or in none: NULL), NULL when there is none. */
static inline const model_finding *scanned_finding(const scanned *self, const char *rule,
                                                   const char *function)
{
    const model_doc *doc = scanned_doc(self);
    const model_finding *all = doc->findings.at;

    for (size_t i = 0; i < doc->findings.count; i++) {
        if (str_equal(all[i].rule, str_from(rule)) &&
            (!function || str_equal(all[i].function, str_from(function))))
            return &all[i];
    }
    return NULL;
}

/* `vb: a.weight b.weight; other: c` */
static inline const char *scanned_keys(const sc_records *groups)
{
    static char text[2][2048];
    static unsigned turn;
    char *out = text[turn++ % 2];
    const model_keys *all = groups->at;
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < groups->count; i++) {
        at += (size_t)snprintf(out + at, 2048 - at, "%s%.*s:", i ? "; " : "", (int)all[i].name.len,
                               all[i].name.ptr);
        for (size_t k = 0; k < all[i].keys.count; k++)
            at += (size_t)snprintf(out + at, 2048 - at, " %.*s", (int)all[i].keys.at[k].len,
                                   all[i].keys.at[k].ptr);
    }
    return out;
}

static inline void scanned_text_is(cg_str text, const char *wanted)
{
    char copy[2048];

    snprintf(copy, sizeof copy, "%.*s", (int)text.len, text.ptr ? text.ptr : "");
    assert_string_equal(copy, wanted);
}

static inline const model_function *scanned_function(const scanned *self, const char *qualified)
{
    const model_doc *doc = scanned_doc(self);
    const model_function *all = doc->functions.at;

    for (size_t i = 0; i < doc->functions.count; i++) {
        if (str_equal(all[i].qualified_name, str_from(qualified)))
            return &all[i];
    }
    fail_msg("there is no function `%s`", qualified);
    return NULL;
}

static inline const model_tensor *scanned_tensor(const scanned *self, cg_str id)
{
    const model_doc *doc = scanned_doc(self);
    const model_tensor *all = doc->tensors.at;

    for (size_t i = 0; i < doc->tensors.count; i++) {
        if (str_equal(all[i].id, id))
            return &all[i];
    }
    return NULL;
}

#endif

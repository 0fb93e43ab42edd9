#include "model/explain.h"

#include "schema/findings_schema.h"

/* The first version that has findings; a later rule will say its own. */
#define EXPLAIN_SINCE "0.1.0"

static cg_str or_absent(cg_str text)
{
    return text.len > 0 ? text : (cg_str){0};
}

void explain_json(const rule_row *rule, jsonw *out)
{
    explain_doc doc = {.schema = CG_LIT(EXPLAIN_SCHEMA),
                       .code = rule->code,
                       .title = rule->title,
                       .severity = rule->severity,
                       .means = rule->means,
                       .hurts = rule->hurts,
                       .bad = or_absent(rule->bad),
                       .good = or_absent(rule->good),
                       .fix = rule->fix,
                       .since = CG_LIT(EXPLAIN_SINCE)};

    sc_write(out, &table_explain_doc, &doc);
}

/* Words of a paragraph, broken between words; a longer word stands alone. */
static void add_paragraph(cg_str text, size_t width, buf *out)
{
    size_t column = 0;

    for (size_t at = 0; at < text.len;) {
        size_t end = at;

        while (end < text.len && text.ptr[end] != ' ')
            end++;
        if (column > 0 && width > 0 && column + 1 + (end - at) > width) {
            buf_byte(out, '\n');
            column = 0;
        }
        if (column > 0) {
            buf_byte(out, ' ');
            column++;
        }
        buf_add(out, (cg_str){text.ptr + at, end - at});
        column += end - at;
        at = end + 1;
    }
    buf_byte(out, '\n');
}

static void add_sample(const char *head, cg_str text, buf *out)
{
    if (text.len == 0)
        return;
    buf_addf(out, "\n%s\n\n    ", head);
    for (size_t i = 0; i < text.len; i++) {
        buf_byte(out, text.ptr[i]);
        if (text.ptr[i] == '\n')
            buf_add(out, CG_LIT("    "));
    }
    buf_byte(out, '\n');
}

static void add_part(const char *head, cg_str text, size_t width, buf *out)
{
    buf_addf(out, "\n%s\n", head);
    add_paragraph(text, width, out);
}

void explain_text(const rule_row *rule, size_t width, buf *out)
{
    buf_add(out, rule->code);
    buf_add(out, CG_LIT(": "));
    buf_add(out, rule->title);
    buf_add(out, CG_LIT("\n\n"));
    add_paragraph(rule->means, width, out);
    add_part("Why it matters", rule->hurts, width, out);
    add_sample("Instead of", rule->bad, out);
    add_sample("write", rule->good, out);
    add_part("What to do", rule->fix, width, out);
    buf_add(out, CG_LIT("\nSeverity "));
    buf_add(out, sc_word(&words_model_finding_severity, rule->severity));
    buf_add(out, CG_LIT(" unless the finding says otherwise; since " EXPLAIN_SINCE ".\n"));
}

void explain_list(buf *out)
{
    size_t widest = 0;

    for (size_t i = 0; i < RULE_CODE_COUNT; i++)
        widest = rules[i].code.len > widest ? rules[i].code.len : widest;
    for (size_t i = 0; i < RULE_CODE_COUNT; i++) {
        buf_add(out, rules[i].code);
        buf_fill(out, ' ', widest + 2 - rules[i].code.len);
        buf_add(out, rules[i].title);
        buf_byte(out, '\n');
    }
}

#include "publish/receipt.h"

#include "view/parts.h"
#include "view/text_number.h"

cg_code receipt_keep(const doc_receipt *from, arena *mem, doc_receipt *ret, cg_err *reterr)
{
    *ret = *from;
    if (!arena_text(mem, from->run_id, &ret->run_id) ||
        !arena_text(mem, from->manifest_sha256, &ret->manifest_sha256))
        return err_nomem(reterr);
    return CG_OK;
}

static cg_code write_document(heap *from, const sc_table *table, const void *document,
                              bool is_sorted, cg_sink sink, cg_err *reterr)
{
    jsonw out;

    if (jw_init(&out, from, sink, true, is_sorted) != CG_OK)
        return err_nomem(reterr);
    sc_write(&out, table, document);
    return jw_finish(&out, reterr);
}

cg_code verification_write(heap *memory, const verification *from, cg_sink sink, cg_err *reterr)
{
    doc_tool tool = shared_tool();
    doc_verify document = {
        .schema = schema_id_text(SCHEMA_VERIFY),
        .tool = &tool,
        .receipt = &from->receipt,
        .semantic = from->has_semantic ? &from->semantic : NULL,
    };

    return write_document(memory, &table_verify, &document, true, sink, reterr);
}

cg_code publication_write(heap *memory, const publication_receipt *from, cg_sink sink,
                          cg_err *reterr)
{
    doc_publication document = {
        .schema = schema_id_text(SCHEMA_PUBLICATION),
        .status = from->status,
        .bundle_path = from->path,
        .run_id = from->verification.run_id,
        .verification = &from->verification,
    };

    return write_document(memory, &table_publication, &document, false, sink, reterr);
}

/* --- for people --- */

static void put_line(page *to, const char *title, cg_str text)
{
    page_ink(to, INK_DIM);
    page_putf(to, "  %-11s ", title);
    page_ink(to, INK_PLAIN);
    page_name(to, text, 0);
    page_end(to);
}

static void put_receipt(page *to, const doc_receipt *receipt)
{
    buf size;

    put_line(to, "run", receipt->run_id);
    buf_init(&size, to->heap, SIZE_MAX);
    buf_addf(&size, "%llu files, ", (unsigned long long)receipt->files_verified);
    number_bytes(&size, receipt->bytes_verified);
    buf_add(&size, CG_LIT(", all as declared"));
    page_check(to, &size);
    put_line(to, "content", buf_text(&size));
    buf_free(&size);
    put_line(to, receipt->manifest_path.ptr, receipt->manifest_sha256);
}

static void put_producer(page *to, const verification *from)
{
    buf text;

    if (from->producer_name.ptr == NULL)
        return;
    buf_init(&text, to->heap, SIZE_MAX);
    buf_add(&text, from->producer_name);
    buf_byte(&text, ' ');
    buf_add(&text, from->producer_version);
    page_check(to, &text);
    put_line(to, "written by", buf_text(&text));
    buf_free(&text);
}

static void say(page *to, enum ink ink, const char *text)
{
    buf_clear(&to->say);
    buf_add(&to->say, str_from(text));
    page_paragraph(to, ink, 2, 0);
}

static void put_semantic(page *to, const verification *from)
{
    const sc_strs *unchecked = &from->semantic.not_rederivable;

    if (!from->has_semantic) {
        say(to, INK_DIM,
            "The bytes are those that were published. Whether the evidence follows from the trace "
            "was not checked: --semantic derives it again.");
        return;
    }
    if (unchecked->count == 0) {
        say(to, INK_GOOD,
            "Evidence and report were derived again from the trace: byte for byte the same.");
        return;
    }
    say(to, INK_GOOD,
        "The evidence was derived again from the trace: every fact is the same, wording left out.");
    say(to, INK_WARN,
        "Not checked, because another program or version wrote them; --semantic=strict refuses "
        "that:");
    for (size_t i = 0; i < unchecked->count; i++) {
        page_put(to, "    ");
        page_name(to, unchecked->at[i], 0);
        page_end(to);
    }
}

cg_code verification_text(heap *memory, const verification *from, const text_style *style,
                          cg_sink sink, cg_err *reterr)
{
    page to;

    page_open(&to, memory, style, sink);
    page_ink(&to, INK_GOOD);
    page_put(&to, "verified ");
    page_ink(&to, INK_PLAIN);
    page_name(&to, from->path, 0);
    page_end(&to);
    put_receipt(&to, &from->receipt);
    put_producer(&to, from);
    put_semantic(&to, from);
    return page_close(&to, reterr);
}

cg_code publication_text(heap *memory, const publication_receipt *from, const text_style *style,
                         cg_sink sink, cg_err *reterr)
{
    page to;

    page_open(&to, memory, style, sink);
    page_ink(&to, INK_GOOD);
    page_put(&to, from->status == PUBLICATION_PUBLISHED ? "published " : "already published ");
    page_ink(&to, INK_PLAIN);
    page_name(&to, from->path, 0);
    page_end(&to);
    put_receipt(&to, &from->verification);
    if (from->status != PUBLICATION_PUBLISHED)
        say(&to, INK_DIM,
            "The bundle that stands there is of the same inputs; nothing was written.");
    return page_close(&to, reterr);
}

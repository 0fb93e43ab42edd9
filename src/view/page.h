/*
 * page - the offline HTML page: of one run (`view`, `viewer.html` of a bundle), of a model, and of
 * whatever else comes as islands of data.
 *
 * One file without any reference to a network: style, script and islands, of which the first is
 * `cg-payload` (view/payload, view/model_payload). The same data always give the same bytes. A
 * policy in the page allows exactly its own script and style, by digest; what comes from the
 * trace or the crate stands in the islands only, escaped, and reaches the screen as text.
 *
 * The sources are in web/ (web/README.md); cmake/viewer.cmake bundles them, tools/embed puts them
 * into the library. Without them (CG_VIEWER=OFF) page_is_built is false, the writers
 * refuse with CG_PLANNED, and bundles carry no page.
 */
#ifndef CG_VIEW_PAGE_H
#define CG_VIEW_PAGE_H

#include "exec/evidence.h"
#include "view/model_payload.h"

bool page_is_built(void);

/* An element of data: `id` and `type` go into the page as they are and must be words of ours. */
typedef struct page_island {
    cg_str id;
    cg_str type;
    /* Writes the element's text, escaped so that it cannot end the element. */
    cg_code (*write)(const void *context, cg_sink sink, cg_err *reterr);
    const void *context;
} page_island;

#define PAGE_JSON "application/json"

/* What the islands beside a payload are called, and the kinds of pages they make. */
#define PAGE_ANSWERS_ID    "cg-answers"         /* page-answers/1, beside a run */
#define PAGE_AGAINST_ID    "cg-against-payload" /* viewer/5 of the other run */
#define PAGE_COMPARISON_ID "cg-comparison"
#define PAGE_SERIES_ID     "cg-series"
#define PAGE_CAMPAIGN_ID   "cg-campaign"
#define PAGE_SOURCES_ID    "cg-sources"       /* page-sources/1, beside a model */
#define PAGE_MODEL_ID      "cg-model-payload" /* viewer/1 on a page that has a join */
#define PAGE_JOIN_ID       "cg-join"
#define PAGE_COMPARISON    "cohorts"
#define PAGE_SERIES        "trajectories"
#define PAGE_JOIN          "source-and-runs"

/* A document of JSON as an island. */
typedef struct page_text {
    const char *id;
    cg_str json;
} page_text;

/* The page of documents alone; memory is drawn from `heap` and given back. */
cg_code page_write_texts(heap *heap, const char *kind, const page_text *at, size_t count,
                         cg_sink sink, cg_err *reterr) CG_MUST;

/* The page of two runs, the second beside the first, and what compares them. */
cg_code page_write_against(const evidence *run, const evidence *against,
                           const page_text *comparison, cg_sink sink, cg_err *reterr) CG_MUST;

/* The whole page. When memory is the reason to fail, nothing has gone to the sink. */
cg_code page_write(const evidence *from, cg_sink sink, cg_err *reterr) CG_MUST;
/*
 * As model_payload_write, with the page around it; `sources`: page-sources/1 as text, absent when
 * there is no source.
 */
cg_code page_write_model(heap *heap, const model_doc *doc, const doc_checkpoint *checkpoint,
                         cg_str sources, cg_sink sink, cg_err *reterr) CG_MUST;

/* The page of a crate and what its runs recorded. */
typedef struct page_join {
    const model_doc *doc;
    const doc_checkpoint *checkpoint; /* NULL: none */
    cg_str sources;                   /* as above */
    cg_str join;                      /* join/1 as text */
    const evidence *run;              /* shown beside them; NULL: none */
} page_join;

cg_code page_write_join(heap *heap, const page_join *from, cg_sink sink, cg_err *reterr) CG_MUST;

#endif

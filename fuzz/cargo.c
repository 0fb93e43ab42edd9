/*
 * cargo - TOML, manifests, lock files, requirements and cfg predicates on arbitrary bytes.
 *
 * The tree of a document is whole: every node is the child its parent lists, every key is found
 * again. A manifest that is accepted has sorted features and dependencies, and all of its features
 * can be turned on; a lock file finds each of its packages; a negated predicate is the opposite.
 */
#include "check.h"

#include "base/buf.h"
#include "cargo/features.h"
#include "cargo/lock.h"
#include "cargo/version.h"
#include "codec/toml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_document(const toml_document *doc)
{
    size_t counted = 1;

    for (uint32_t i = 0; i < doc->nodes.count; i++) {
        const toml_node *node = &doc->nodes.at[i];
        uint32_t count = 0;

        for (uint32_t k = node->first; k != TOML_NONE; k = doc->nodes.at[k].next) {
            const toml_node *child = &doc->nodes.at[k];

            CHECK(child->parent == i && k > i);
            CHECK((child->key.ptr != NULL) == (node->kind == TOML_TABLE));
            if (child->key.ptr != NULL)
                CHECK(toml_get(doc, i, child->key) == k);
            count++;
        }
        CHECK(count == node->count);
        counted += count;
    }
    CHECK(counted == doc->nodes.count);
}

static void check_features(heap *from, arena *mem, const cargo_manifest *manifest)
{
    feature_state features;
    cargo_strs on;
    bool is_known;

    CHECK(features_init(&features, from, mem, manifest, NULL) == CG_OK);
    for (size_t i = 0; i < manifest->feature_count; i++) {
        cg_str name = manifest->features[i].name;

        CHECK(i == 0 || str_compare(manifest->features[i - 1].name, name) < 0);
        CHECK(manifest_feature_find(manifest, name) == &manifest->features[i]);
        /* `dep:` and `/` have a meaning of their own on the command line. */
        if (!str_starts_with(name, CG_LIT("dep:")) && str_find(name, CG_LIT("/")) == SIZE_MAX)
            CHECK(features_enable(&features, name, &is_known, NULL) == CG_OK && is_known);
    }
    CHECK(features_list(&features, mem, false, &on, NULL) == CG_OK);
    CHECK(on.count <= manifest->feature_count);
    features_free(&features);
}

static void check_manifest(heap *from, arena *mem, const toml_document *doc)
{
    cg_err err = {0};
    cargo_manifest manifest;
    cfg_set set;
    cargo_strs lines;

    if (cargo_manifest_read(mem, from, doc, &manifest, &err) != CG_OK) {
        CHECK(err.problem != NULL);
        return;
    }
    CHECK(cfg_target_lines(mem, cfg_host(), &lines));
    CHECK(cfg_set_make(mem, lines, (cargo_strs){0}, &set));
    for (size_t i = 0; i < manifest.dependency_count; i++) {
        const manifest_dependency *of = &manifest.dependencies[i];
        size_t first = 0;

        CHECK(i == 0 || str_compare(manifest.dependencies[i - 1].name, of->name) <= 0);
        CHECK(manifest_dependency_find(&manifest, of->name, &first) > 0 && first <= i);
        cfg_eval(&set, of->platform.ptr != NULL ? of->platform : CG_LIT(""));
        version_text_fits(of->requirement, CG_LIT("1.2.3-rc.1"));
    }
    check_features(from, mem, &manifest);
    if (manifest_is_inheriting(&manifest)) {
        cg_code code = manifest_inherit(mem, &manifest, &manifest, CG_LIT("/w"), NULL);

        CHECK(code != CG_OK || !manifest_is_inheriting(&manifest));
    }
}

static void check_lock(heap *from, arena *mem, cg_str text)
{
    cargo_lock lock;

    if (lock_read(NULL, mem, from, text, &lock, NULL) != CG_OK)
        return;
    for (size_t i = 0; i < lock.count; i++) {
        size_t found = lock_find_version(&lock, lock.packages[i].name, lock.packages[i].version);

        CHECK(found != LOCK_NONE && str_equal(lock.packages[found].name, lock.packages[i].name));
        for (size_t k = 0; k < lock.packages[i].dependencies.count && k < 64; k++) {
            cg_str number;
            cg_str name = lock_entry_name(lock.packages[i].dependencies.at[k], &number);

            found = lock_resolve(&lock, i, name, CG_LIT("*"));
            CHECK(found == LOCK_NONE || found < lock.count);
        }
    }
}

/* `cfg(text)`, and `cfg(not(text))` against it, wherever the text is one predicate. */
static void check_predicate(heap *from, arena *mem, cg_str text)
{
    cg_str part;
    cfg_attribute attribute = cfg_attribute_read(text);
    cargo_strs lines;
    enum cfg_truth truth;
    cfg_set set;
    buf negated;

    while (cfg_attribute_next(&attribute.rest, &part))
        CHECK(part.len > 0);
    CHECK(cfg_target_lines(mem, cfg_host(), &lines));
    CHECK(cfg_set_make(mem, lines, (cargo_strs){0}, &set));
    truth = cfg_eval(&set, text);
    if (truth == CFG_UNDECIDED)
        return;
    buf_init(&negated, from, SIZE_MAX);
    buf_add(&negated, CG_LIT("not("));
    buf_add(&negated, text);
    buf_add(&negated, CG_LIT("\n)"));
    /* A comment may swallow the parenthesis, and depth its ceiling. */
    CHECK(cfg_eval(&set, buf_text(&negated)) != truth);
    buf_free(&negated);
}

static void check_version(cg_str text)
{
    version found;

    version_text_fits(text, CG_LIT("0.11.0"));
    if (version_read(text, &found)) {
        CHECK(version_compare(&found, &found) == 0);
        CHECK(version_compare_text(text, CG_LIT("")) > 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cg_str text = {(const char *)data, size};
    toml_document *doc = NULL;
    cg_err err = {0};
    heap memory;
    arena mem;

    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    if (toml_read(NULL, &memory, text, &doc, &err) == CG_OK) {
        check_document(doc);
        check_manifest(&memory, &mem, doc);
        toml_free(doc);
    } else {
        CHECK(err.problem != NULL);
    }
    check_lock(&memory, &mem, text);
    check_predicate(&memory, &mem, text);
    check_version(text);
    arena_free(&mem);
    CHECK(memory.used_bytes == 0);
    return 0;
}

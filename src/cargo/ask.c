#include "cargo/ask.h"

#include "base/sort.h"
#include "cargo/files.h"
#include "codec/json.h"

#define OUTPUT_CEILING ((size_t)128 << 20)
#define ERRORS_CEILING ((size_t)64 << 10)
#define TIMEOUT_NS     (UINT64_C(120) * 1000000000)

/* --- what is run, and in which surroundings --- */

typedef struct surroundings {
    cg_str program; /* absolute path, NUL behind it */
    cg_str path;    /* `PATH=...` */
    const char *environment[5];
} surroundings;

/*
 * Does `path` lead, links followed, out of the crate? What cannot be looked at is passed over, as
 * every shell does it.
 */
static cg_code is_outside(arena *mem, cg_str path, cg_str workspace_root, bool *ret, cg_err *reterr)
{
    cg_str real = {0};
    cg_code code = os_real_path(path, mem, &real, NULL);

    *ret = code == CG_OK && !files_is_below(real, workspace_root);
    return code == CG_NOMEM ? err_nomem(reterr) : CG_OK;
}

/* PATH without what the crate could have put there. */
static cg_code clean_path(arena *mem, cg_str workspace_root, cg_str *ret, cg_err *reterr)
{
    cg_str rest = os_variable("PATH");
    char *at = arena_bytes(mem, rest.len + 6);
    size_t len = 5;

    if (at == NULL)
        return err_nomem(reterr);
    memcpy(at, "PATH=", 5);
    while (rest.len > 0) {
        const char *colon = memchr(rest.ptr, ':', rest.len);
        cg_str part = {rest.ptr, colon == NULL ? rest.len : (size_t)(colon - rest.ptr)};
        size_t skip = colon == NULL ? part.len : part.len + 1;
        bool is_taken = part.len > 0 && part.ptr[0] == '/';

        rest = (cg_str){rest.ptr + skip, rest.len - skip};
        if (is_taken)
            CG_TRY(is_outside(mem, part, workspace_root, &is_taken, reterr));
        if (!is_taken)
            continue;
        if (len > 5)
            at[len++] = ':';
        memcpy(at + len, part.ptr, part.len);
        len += part.len;
    }
    at[len] = '\0';
    *ret = (cg_str){at, len};
    return CG_OK;
}

/* The first program of that name that lies, links followed, outside of the crate. */
static cg_code find_program(arena *mem, cg_str path, cg_str name, cg_str workspace_root,
                            cg_str *ret, cg_err *reterr)
{
    cg_str rest = {path.ptr + 5, path.len - 5};

    while (rest.len > 0) {
        const char *colon = memchr(rest.ptr, ':', rest.len);
        cg_str part = {rest.ptr, colon == NULL ? rest.len : (size_t)(colon - rest.ptr)};
        size_t skip = colon == NULL ? part.len : part.len + 1;
        bool is_taken;
        cg_str found;

        rest = (cg_str){rest.ptr + skip, rest.len - skip};
        CG_TRY(files_join(mem, part, name, &found, reterr));
        is_taken = os_is_program(found.ptr);
        if (is_taken)
            CG_TRY(is_outside(mem, found, workspace_root, &is_taken, reterr));
        if (!is_taken)
            continue;
        *ret = found;
        return CG_OK;
    }
    return cg_fail(reterr, PROBLEM_RUN, "there is no `%.*s` on PATH", ERR_STR(name));
}

static cg_code prepare(arena *mem, const ask_question *question, cg_str name, surroundings *ret,
                       cg_err *reterr)
{
    static const char *const kept[] = {"HOME", "CARGO_HOME", "RUSTUP_HOME"};
    surroundings found = {0};
    size_t count = 0;

    CG_TRY(clean_path(mem, question->workspace_root, &found.path, reterr));
    CG_TRY(find_program(mem, found.path, name, question->workspace_root, &found.program, reterr));
    found.environment[count++] = found.path.ptr;
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        cg_str value = os_variable(kept[i]);
        cg_str line;

        /* A relative home would lie in `/` for the program, in the crate perhaps for us. */
        if (value.len == 0 || value.ptr[0] != '/')
            continue;
        if (!arena_format(mem, &line, "%s=%.*s", kept[i], (int)value.len, value.ptr))
            return err_nomem(reterr);
        found.environment[count++] = line.ptr;
    }
    *ret = found;
    return CG_OK;
}

/* The line of `errors` that says what is wrong: cargo's begins with `error`. */
static cg_str telling_line(cg_str errors)
{
    cg_str first = {0};
    cg_str rest = errors;

    while (rest.len > 0) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        cg_str line = {rest.ptr, end == NULL ? rest.len : (size_t)(end - rest.ptr)};
        size_t skip = end == NULL ? line.len : line.len + 1;

        rest = (cg_str){rest.ptr + skip, rest.len - skip};
        line = str_trim(line);
        if (str_starts_with(line, CG_LIT("error")))
            return line;
        if (first.len == 0)
            first = line;
    }
    return first;
}

static cg_code run_default(void *context, const cg_env *env, const os_command *command, buf *output,
                           buf *errors, int *ret_status, cg_err *reterr)
{
    (void)context;
    return os_run(env, command, output, errors, ret_status, reterr);
}

static cg_code run(const cg_env *env, heap *from, const surroundings *in,
                   const char *const *arguments, const ask_runner *runner, buf *output,
                   cg_err *reterr)
{
    static const ask_runner own = {NULL, run_default};
    os_command command = {.program = in->program.ptr,
                          .arguments = arguments,
                          .environment = in->environment,
                          .directory = "/",
                          .timeout_ns = TIMEOUT_NS};
    cg_str name = files_name(in->program);
    int status = 0;
    cg_code code;
    buf errors;

    if (runner == NULL)
        runner = &own;
    buf_init(&errors, from, ERRORS_CEILING);
    code = runner->run(runner->context, env, &command, output, &errors, &status, reterr);
    if (code == CG_OK && status != 0) {
        cg_str line = telling_line(buf_text(&errors));

        code = cg_fail(reterr, PROBLEM_RUN, "`%.*s` ended with status %d: %.*s", ERR_STR(name),
                       status, (int)(line.len < 300 ? line.len : 300), line.ptr);
    }
    buf_free(&errors);
    return code;
}

cg_code ask_cfg(const cg_env *env, heap *from, arena *mem, const ask_question *question,
                const ask_runner *runner, cargo_strs *ret, cg_err *reterr)
{
    const char *arguments[6] = {"rustc", "--print", "cfg"};
    surroundings in;
    cg_code code;
    cargo_strs lines = {0};
    cg_str rest;
    cg_str target;
    cg_str *at;
    size_t count = 1;
    buf output;

    CG_TRY(prepare(mem, question, CG_LIT("rustc"), &in, reterr));
    if (question->target.ptr != NULL) {
        if (!arena_text(mem, question->target, &target))
            return err_nomem(reterr);
        arguments[3] = "--target";
        arguments[4] = target.ptr;
    }
    buf_init(&output, from, OUTPUT_CEILING);
    code = run(env, from, &in, arguments, runner, &output, reterr);
    if (code != CG_OK || !arena_text(mem, buf_text(&output), &rest)) {
        buf_free(&output);
        return code != CG_OK ? code : err_nomem(reterr);
    }
    buf_free(&output);
    for (size_t i = 0; i < rest.len; i++)
        count += rest.ptr[i] == '\n';
    at = arena_take(mem, count * sizeof *at);
    if (at == NULL || count > 4096)
        return at == NULL ? err_nomem(reterr)
                          : cg_fail(reterr, PROBLEM_RUN, "rustc prints too many cfg lines");
    lines.at = at;
    while (rest.len > 0) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        cg_str line = {rest.ptr, end == NULL ? rest.len : (size_t)(end - rest.ptr)};
        size_t skip = end == NULL ? line.len : line.len + 1;

        rest = (cg_str){rest.ptr + skip, rest.len - skip};
        line = str_trim(line);
        if (line.len > 0 && str_utf8_error(line) == SIZE_MAX)
            at[lines.count++] = line;
    }
    *ret = lines;
    return CG_OK;
}

/* --- the answer of cargo --- */

typedef struct answering {
    const cg_env *env;
    heap *heap;
    arena *mem;
    cg_str *ids; /* of packages, in the document's order */
    uint32_t *order, *room;
    ask_package *packages;
    size_t count;
    cg_err *reterr;
} answering;

static cg_code strange(answering *self)
{
    return cg_fail(self->reterr, PROBLEM_RUN, "cargo's answer is not what `metadata` prints");
}

static cg_code take_text(answering *self, yyjson_val *object, const char *key, cg_str *ret)
{
    yyjson_val *value = yyjson_obj_get(object, key);

    if (!yyjson_is_str(value))
        return strange(self);
    return arena_text(self->mem, json_text(value), ret) ? CG_OK : err_nomem(self->reterr);
}

static bool id_before(const void *context, uint32_t a, uint32_t b)
{
    const answering *self = context;

    return str_compare(self->ids[a], self->ids[b]) < 0;
}

static uint32_t find_id(const answering *self, cg_str id)
{
    size_t low = 0;
    size_t high = self->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = str_compare(self->ids[self->order[middle]], id);

        if (order == 0)
            return self->order[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return UINT32_MAX;
}

static cg_code read_packages(answering *self, yyjson_val *list)
{
    size_t count = yyjson_arr_size(list);
    yyjson_arr_iter at = yyjson_arr_iter_with(list);

    if (!yyjson_is_arr(list) || count >= UINT32_MAX)
        return strange(self);
    self->ids = arena_take(self->mem, count * sizeof *self->ids + 1);
    self->order = arena_take(self->mem, count * sizeof *self->order + 1);
    self->room = arena_take(self->mem, count * sizeof *self->room + 1);
    self->packages = arena_zero(self->mem, count * sizeof *self->packages + 1);
    if (self->ids == NULL || self->order == NULL || self->room == NULL || self->packages == NULL)
        return err_nomem(self->reterr);
    for (size_t i = 0; i < count; i++) {
        yyjson_val *package = yyjson_arr_iter_next(&at);
        ask_package *to = &self->packages[i];

        self->order[i] = (uint32_t)i;
        CG_TRY(take_text(self, package, "id", &self->ids[i]));
        CG_TRY(take_text(self, package, "name", &to->name));
        CG_TRY(take_text(self, package, "version", &to->version));
        CG_TRY(take_text(self, package, "manifest_path", &to->manifest_path));
    }
    self->count = count;
    sort_with(self->order, self->room, count, id_before, self);
    return CG_OK;
}

static cg_code read_features(answering *self, yyjson_val *list, cargo_strs *ret)
{
    size_t count = yyjson_arr_size(list);
    yyjson_arr_iter at = yyjson_arr_iter_with(list);
    cg_str *features = arena_take(self->mem, count * sizeof *features + 1);

    if (features == NULL)
        return err_nomem(self->reterr);
    for (size_t i = 0; i < count; i++) {
        yyjson_val *feature = yyjson_arr_iter_next(&at);

        if (!yyjson_is_str(feature))
            return strange(self);
        if (!arena_text(self->mem, json_text(feature), &features[i]))
            return err_nomem(self->reterr);
    }
    *ret = (cargo_strs){features, count};
    return CG_OK;
}

static cg_code read_node(answering *self, yyjson_val *node)
{
    yyjson_val *deps = yyjson_obj_get(node, "deps");
    yyjson_val *id = yyjson_obj_get(node, "id");
    uint32_t index = yyjson_is_str(id) ? find_id(self, json_text(id)) : UINT32_MAX;
    size_t count = yyjson_arr_size(deps);
    yyjson_arr_iter at = yyjson_arr_iter_with(deps);
    ask_dependency *list;
    ask_package *to;

    if (index == UINT32_MAX)
        return strange(self);
    to = &self->packages[index];
    CG_TRY(read_features(self, yyjson_obj_get(node, "features"), &to->features));
    list = arena_take(self->mem, count * sizeof *list + 1);
    if (list == NULL)
        return err_nomem(self->reterr);
    to->dependency_count = 0;
    for (size_t i = 0; i < count; i++) {
        yyjson_val *dependency = yyjson_arr_iter_next(&at);
        yyjson_val *package = yyjson_obj_get(dependency, "pkg");
        ask_dependency *edge = &list[to->dependency_count];

        edge->package = yyjson_is_str(package) ? find_id(self, json_text(package)) : UINT32_MAX;
        CG_TRY(take_text(self, dependency, "name", &edge->extern_name));
        if (edge->package != UINT32_MAX)
            to->dependency_count++;
    }
    to->dependencies = list;
    return CG_OK;
}

static cg_code read_document(answering *self, yyjson_val *root, cg_str manifest_path,
                             ask_answer *ret)
{
    yyjson_val *nodes = yyjson_obj_get(yyjson_obj_get(root, "resolve"), "nodes");
    yyjson_arr_iter at = yyjson_arr_iter_with(nodes);
    yyjson_val *node;
    ask_answer found = {.root = UINT32_MAX};

    CG_TRY(take_text(self, root, "workspace_root", &found.workspace_root));
    CG_TRY(read_packages(self, yyjson_obj_get(root, "packages")));
    while ((node = yyjson_arr_iter_next(&at)) != NULL)
        CG_TRY(read_node(self, node));
    for (size_t i = 0; i < self->count && found.root == UINT32_MAX; i++) {
        if (str_equal(self->packages[i].manifest_path, manifest_path))
            found.root = (uint32_t)i;
    }
    found.packages = self->packages;
    found.package_count = self->count;
    *ret = found;
    return CG_OK;
}

/* The answer in the text of `cargo metadata`. */
static cg_code ask_read_metadata(const cg_env *env, heap *from, arena *mem, cg_str text,
                                 cg_str manifest_path, ask_answer *ret, cg_err *reterr)
{
    answering self = {.env = env, .heap = from, .mem = mem, .reterr = reterr};
    json_reader reader;
    json_fault fault = {0};
    yyjson_val *root = NULL;
    cg_code code;

    json_init(&reader, from, limit_of(env, CG_LIMIT_JSON_DEPTH));
    code = json_read(&reader, text, &root, &fault);
    if (code == CG_INPUT)
        code = strange(&self);
    else if (code != CG_OK)
        code = err_nomem(reterr);
    else
        code = read_document(&self, root, manifest_path, ret);
    json_free(&reader);
    return code;
}

/* The features as one argument. */
static cg_code join_features(arena *mem, cargo_strs features, cg_str *ret, cg_err *reterr)
{
    size_t len = 0;
    char *at;

    for (size_t i = 0; i < features.count; i++)
        len += features.at[i].len + 1;
    at = arena_bytes(mem, len + 1);
    if (at == NULL)
        return err_nomem(reterr);
    len = 0;
    for (size_t i = 0; i < features.count; i++) {
        memcpy(at + len, features.at[i].ptr, features.at[i].len);
        len += features.at[i].len;
        at[len++] = ',';
    }
    at[len] = '\0';
    *ret = (cg_str){at, len};
    return CG_OK;
}

cg_code ask_metadata(const cg_env *env, heap *from, arena *mem, const ask_question *question,
                     const ask_runner *runner, ask_answer *ret, cg_err *reterr)
{
    const char *arguments[20] = {"cargo",     "metadata", "--format-version", "1",
                                 "--offline", "--locked", "--manifest-path"};
    size_t count = 7;
    surroundings in;
    cg_str text;
    cg_code code;
    buf output;

    CG_TRY(prepare(mem, question, CG_LIT("cargo"), &in, reterr));
    if (!arena_text(mem, question->manifest_path, &text))
        return err_nomem(reterr);
    arguments[count++] = text.ptr;
    if (question->is_all_features)
        arguments[count++] = "--all-features";
    if (question->is_no_default_features)
        arguments[count++] = "--no-default-features";
    if (question->features.count > 0) {
        CG_TRY(join_features(mem, question->features, &text, reterr));
        arguments[count++] = "--features";
        arguments[count++] = text.ptr;
    }
    if (question->target.ptr != NULL) {
        if (!arena_text(mem, question->target, &text))
            return err_nomem(reterr);
        arguments[count++] = "--filter-platform";
        arguments[count++] = text.ptr;
    }
    buf_init(&output, from, OUTPUT_CEILING);
    code = run(env, from, &in, arguments, runner, &output, reterr);
    if (code == CG_OK)
        code = ask_read_metadata(env, from, mem, buf_text(&output), question->manifest_path, ret,
                                 reterr);
    buf_free(&output);
    return code;
}

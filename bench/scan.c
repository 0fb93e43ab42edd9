/*
 * scan - a crate read from its source, its structure alone, everything with all documents, and
 * what `check` prints, against a bare tree-sitter parse of the files that were read.
 *
 * One line per promise: `name value unit budget verdict`. Parse and scan take turns, each in a
 * process of its own; a ratio is the median of the rounds', memory is the highest of the scan.
 * Without a crate one is written: models of some layers each, as many as candle-transformers has.
 *
 * usage: bench_scan [CRATE] [ROUNDS]
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <tree_sitter/api.h>
#include <unistd.h>

#include "candlegraph/scan.h"
#include "cargo/workspace.h"
#include "model/extract.h"
#include "model/program.h"
#include "row.h"

#define MODELS      220
#define ROUNDS      7
#define ROUNDS_MOST 31

const TSLanguage *tree_sitter_rust(void);

static void stop(const char *what)
{
    fprintf(stderr, "bench_scan: %s\n", what);
    exit(1);
}

/* --- a crate --- */

static const char model[] =
    "use candle_core::{Result, Tensor};\n"
    "use candle_nn::{embedding, layer_norm, linear, linear_no_bias, Embedding, LayerNorm, Linear,\n"
    "    Module, VarBuilder};\n\n"
    "#[derive(Debug, Clone)]\n"
    "pub struct Config {\n    pub hidden_size: usize,\n    pub intermediate_size: usize,\n"
    "    pub num_heads: usize,\n    pub num_layers: usize,\n    pub vocab_size: usize,\n"
    "    pub use_bias: bool,\n    pub eps: f64,\n}\n\n"
    "struct Attention {\n    q: Linear,\n    k: Linear,\n    v: Linear,\n    o: Linear,\n"
    "    heads: usize,\n    head_dim: usize,\n}\n\n"
    "impl Attention {\n    fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {\n"
    "        let size = cfg.hidden_size;\n        let head_dim = size / cfg.num_heads;\n"
    "        let make = |name: &str| {\n            if cfg.use_bias {\n"
    "                linear(size, cfg.num_heads * head_dim, vb.pp(name))\n            } else {\n"
    "                linear_no_bias(size, cfg.num_heads * head_dim, vb.pp(name))\n            }\n"
    "        };\n"
    "        Ok(Self { q: make(\"q_proj\")?, k: make(\"k_proj\")?, v: make(\"v_proj\")?,\n"
    "            o: make(\"o_proj\")?, heads: cfg.num_heads, head_dim })\n    }\n\n"
    "    fn forward(&self, xs: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {\n"
    "        let (b, n, _) = xs.dims3()?;\n"
    "        let shape = (b, n, self.heads, self.head_dim);\n"
    "        let q = self.q.forward(xs)?.reshape(shape)?.transpose(1, 2)?.contiguous()?;\n"
    "        let k = self.k.forward(xs)?.reshape(shape)?.transpose(1, 2)?.contiguous()?;\n"
    "        let v = self.v.forward(xs)?.reshape(shape)?.transpose(1, 2)?.contiguous()?;\n"
    "        let scores = (q.matmul(&k.t()?)? / (self.head_dim as f64).sqrt())?;\n"
    "        let scores = match mask {\n            Some(mask) => scores.broadcast_add(mask)?,\n"
    "            None => scores,\n        };\n"
    "        let probs = candle_nn::ops::softmax_last_dim(&scores)?;\n"
    "        let out = probs.matmul(&v)?.transpose(1, 2)?.reshape((b, n, ()))?;\n"
    "        self.o.forward(&out)\n    }\n}\n\n"
    "struct Block {\n    attention: Attention,\n    norm1: LayerNorm,\n    norm2: LayerNorm,\n"
    "    up: Linear,\n    down: Linear,\n}\n\n"
    "impl Block {\n    fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {\n"
    "        Ok(Self {\n            attention: Attention::new(cfg, vb.pp(\"attn\"))?,\n"
    "            norm1: layer_norm(cfg.hidden_size, cfg.eps, vb.pp(\"norm1\"))?,\n"
    "            norm2: layer_norm(cfg.hidden_size, cfg.eps, vb.pp(\"norm2\"))?,\n"
    "            up: linear(cfg.hidden_size, cfg.intermediate_size, vb.pp(\"mlp.up\"))?,\n"
    "            down: linear(cfg.intermediate_size, cfg.hidden_size, vb.pp(\"mlp.down\"))?,\n"
    "        })\n    }\n\n"
    "    fn forward(&self, xs: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {\n"
    "        let xs = (xs + self.attention.forward(&self.norm1.forward(xs)?, mask)?)?;\n"
    "        let ys = self.down.forward(&self.up.forward(&self.norm2.forward(&xs)?)?.gelu()?)?;\n"
    "        xs + ys\n    }\n}\n\n"
    "pub struct Model {\n    tokens: Embedding,\n    blocks: Vec<Block>,\n    norm: LayerNorm,\n"
    "    head: Linear,\n}\n\n"
    "impl Model {\n    pub fn new(cfg: &Config, vb: VarBuilder) -> Result<Self> {\n"
    "        let tokens = embedding(cfg.vocab_size, cfg.hidden_size, vb.pp(\"wte\"))?;\n"
    "        let mut blocks = Vec::with_capacity(cfg.num_layers);\n"
    "        let vb_blocks = vb.pp(\"blocks\");\n"
    "        for i in 0..cfg.num_layers {\n"
    "            blocks.push(Block::new(cfg, vb_blocks.pp(i))?);\n        }\n"
    "        let norm = layer_norm(cfg.hidden_size, cfg.eps, vb.pp(\"norm\"))?;\n"
    "        let head = linear_no_bias(cfg.hidden_size, cfg.vocab_size, vb.pp(\"head\"))?;\n"
    "        Ok(Self { tokens, blocks, norm, head })\n    }\n\n"
    "    pub fn forward(&self, ids: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {\n"
    "        let mut xs = self.tokens.forward(ids)?;\n"
    "        for block in self.blocks.iter() {\n            xs = block.forward(&xs, mask)?;\n"
    "        }\n        self.head.forward(&self.norm.forward(&xs)?)\n    }\n}\n";

static const char manifest[] =
    "[package]\nname = \"many\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[dependencies]\n"
    "candle-core = \"0.11\"\ncandle-nn = \"0.11\"\n";

static FILE *file_of(const char *root, const char *name)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", root, name);
    file = fopen(path, "wb");
    if (file == NULL)
        stop("cannot write the crate");
    return file;
}

static void write_crate(const char *root, int models)
{
    char name[64];
    FILE *file, *top;

    snprintf(name, sizeof name, "%s/src", root);
    if (mkdir(root, 0700) != 0 || mkdir(name, 0700) != 0)
        stop("cannot make the crate");
    file = file_of(root, "Cargo.toml");
    fputs(manifest, file);
    fclose(file);
    top = file_of(root, "src/lib.rs");
    for (int i = 0; i < models; i++) {
        fprintf(top, "pub mod m%d;\n", i);
        snprintf(name, sizeof name, "src/m%d.rs", i);
        file = file_of(root, name);
        /* About as long as a model of candle-transformers. */
        fputs(model, file);
        for (int k = 0; models > 1 && k < 2; k++)
            fprintf(file, "pub mod v%d {\n%s}\n", k, model);
        fclose(file);
    }
    fclose(top);
}

static void remove_crate(const char *root, int models)
{
    char path[512];

    for (int i = 0; i < models; i++) {
        snprintf(path, sizeof path, "%s/src/m%d.rs", root, i);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/src/lib.rs", root);
    unlink(path);
    snprintf(path, sizeof path, "%s/Cargo.toml", root);
    unlink(path);
    snprintf(path, sizeof path, "%s/src", root);
    rmdir(path);
    rmdir(root);
}

/* --- the two ways to read it --- */

typedef struct reading {
    cg_env env;
    cg_err err;
    heap heap;
    cargo_graph *cargo;
    program program;
    types *types;
    expr_pool exprs;
    eval *eval;
    extraction found;
} reading;

static void load(reading *self, const char *crate)
{
    cargo_options options = {0};

    *self = (reading){.env = {.size = sizeof self->env}};
    heap_init(&self->heap, &self->env);
    if (cargo_graph_open(&self->env, &self->heap, str_from(crate), &options, &self->cargo,
                         &self->err) != CG_OK ||
        program_load(&self->env, &self->heap, self->cargo, &self->program, &self->err) != CG_OK)
        stop(self->err.text);
}

static void structure(reading *self, const char *crate)
{
    extract_options options = {0};

    load(self, crate);
    if (types_new(&self->program, &self->types, &self->err) != CG_OK)
        stop(self->err.text);
    if (!expr_pool_init(&self->exprs, &self->heap))
        stop("no memory");
    if (eval_new(&self->program, self->types, &self->exprs, &self->eval, &self->err) != CG_OK ||
        extract_run(self->eval, &options, &self->found, &self->err) != CG_OK)
        stop(self->err.text);
    if (self->found.components.count == 0)
        stop("no components found");
}

static double cpu_ms(const struct rusage *of)
{
    return (double)(of->ru_utime.tv_sec + of->ru_stime.tv_sec) * 1e3 +
           (double)(of->ru_utime.tv_usec + of->ru_stime.tv_usec) / 1e3;
}

/* All that `check` finds out, and its findings as JSON, which nobody reads. */
static cg_code drop(void *context, const char *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return CG_OK;
}

static void whole(const char *crate, bool is_findings)
{
    cg_env env = {.size = sizeof env};
    cg_scan_request request = {.size = sizeof request, .path = crate, .is_findings = is_findings};
    cg_sink sink = {NULL, drop};
    cg_scan *scan;
    cg_err err = {0};

    if (cg_scan_open(&env, &request, &scan, &err) != CG_OK ||
        cg_write_findings(scan, CG_MESSAGE_JSON, sink, &err) != CG_OK)
        stop(err.text);
    cg_scan_free(scan);
}

/* --- the bare parse --- */

typedef struct texts {
    char *at[4096];
    uint32_t length[4096];
    size_t count;
} texts;

static void move_bytes(int from, int to, char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t done = from >= 0 ? read(from, bytes, count) : write(to, bytes, count);

        if (done <= 0)
            stop("the files cannot be handed over");
        bytes += done;
        count -= (size_t)done;
    }
}

/* The files that a scan reads. Another process finds them: here nothing was parsed before. */
static texts texts_of(const char *crate)
{
    texts them = {.count = 0};
    int ends[2], state = 0;
    uint32_t length = 0;
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0)
        stop("cannot fork");
    if (child == 0) {
        reading all;

        close(ends[0]);
        structure(&all, crate);
        for (size_t i = 1; i <= all.program.files.count; i++) {
            bool is_file = i < all.program.files.count;
            cg_str text = is_file ? all.program.files.at[i]->source.text : (cg_str){NULL, 0};

            length = is_file ? (uint32_t)text.len : UINT32_MAX;
            move_bytes(-1, ends[1], (char *)&length, sizeof length);
            if (is_file)
                move_bytes(-1, ends[1], (char *)text.ptr, text.len);
        }
        _exit(0);
    }
    close(ends[1]);
    for (;;) {
        move_bytes(ends[0], -1, (char *)&length, sizeof length);
        if (length == UINT32_MAX)
            break;
        if (them.count == sizeof them.at / sizeof them.at[0])
            stop("too many files");
        them.at[them.count] = malloc(length + 1u);
        if (them.at[them.count] == NULL)
            stop("no memory");
        move_bytes(ends[0], -1, them.at[them.count], length);
        them.length[them.count++] = length;
    }
    close(ends[0]);
    if (waitpid(child, &state, 0) != child || state != 0)
        stop("the files cannot be found");
    return them;
}

/* As anybody would call tree-sitter: with its own allocator. */
static void parse(const texts *them)
{
    TSParser *parser = ts_parser_new();

    if (parser == NULL || !ts_parser_set_language(parser, tree_sitter_rust()))
        stop("cannot parse");
    for (size_t i = 0; i < them->count; i++)
        ts_tree_delete(ts_parser_parse_string(parser, NULL, them->at[i], them->length[i]));
    ts_parser_delete(parser);
}

enum what { PARSE, STRUCTURE, WHOLE, CHECK };

/* CPU time in ms and peak in MB of a process that does it. */
static void measure(const char *crate, enum what what, double *ret_ms, double *ret_mb)
{
    struct rusage before, after;
    double pair[2] = {0, 0};
    int ends[2], state = 0;
    pid_t child;

    fflush(stdout);
    if (pipe(ends) != 0 || (child = fork()) < 0)
        stop("cannot fork");
    if (child == 0) {
        reading all;

        if (what == STRUCTURE) {
            getrusage(RUSAGE_SELF, &before);
            structure(&all, crate);
        } else if (what == WHOLE || what == CHECK) {
            getrusage(RUSAGE_SELF, &before);
            whole(crate, what == CHECK);
        } else {
            texts them = texts_of(crate);

            getrusage(RUSAGE_SELF, &before);
            parse(&them);
        }
        getrusage(RUSAGE_SELF, &after);
        pair[0] = cpu_ms(&after) - cpu_ms(&before);
        pair[1] = (double)after.ru_maxrss / 1024.0;
        _exit(write(ends[1], pair, sizeof pair) != (ssize_t)sizeof pair);
    }
    close(ends[1]);
    if (read(ends[0], pair, sizeof pair) != (ssize_t)sizeof pair ||
        waitpid(child, &state, 0) != child || state != 0)
        stop("a measurement failed");
    close(ends[0]);
    *ret_ms = pair[0];
    *ret_mb = pair[1];
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static double median(double *all, int count)
{
    qsort(all, (size_t)count, sizeof *all, by_size);
    return all[count / 2];
}

int main(int argc, char **argv)
{
    char many[400], one[400];
    const char *crate = argc > 1 && argv[1][0] != '\0' ? argv[1] : many;
    const char *folder = getenv("TMPDIR");
    int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS;
    bool is_kept;
    double parse[ROUNDS_MOST], scan[ROUNDS_MOST], all[ROUNDS_MOST], single[ROUNDS_MOST];
    double check[ROUNDS_MOST], check_ratio[ROUNDS_MOST];
    double scan_ratio[ROUNDS_MOST], all_ratio[ROUNDS_MOST];
    double peak = 0, whole_peak = 0, check_peak = 0, mb;

    if (rounds < 1 || rounds > ROUNDS_MOST)
        stop("rounds are 1 to 31");
    if (folder == NULL)
        folder = "/tmp";
    snprintf(many, sizeof many, "%s/cg-bench-scan-%ld", folder, (long)getpid());
    snprintf(one, sizeof one, "%s/cg-bench-scan-%ld-one", folder, (long)getpid());
    write_crate(many, MODELS);
    write_crate(one, 1);
    for (int i = 0; i < rounds; i++) {
        measure(crate, PARSE, &parse[i], &mb);
        measure(crate, STRUCTURE, &scan[i], &mb);
        peak = mb > peak ? mb : peak;
        measure(crate, WHOLE, &all[i], &mb);
        whole_peak = mb > whole_peak ? mb : whole_peak;
        measure(crate, CHECK, &check[i], &mb);
        check_peak = mb > check_peak ? mb : check_peak;
        measure(one, WHOLE, &single[i], &mb);
        scan_ratio[i] = scan[i] / parse[i];
        all_ratio[i] = all[i] / parse[i];
        check_ratio[i] = check[i] / parse[i];
    }
    remove_crate(many, MODELS);
    remove_crate(one, 1);
    row_stated("scan.parse", median(parse, rounds), "ms");
    row_stated("scan.structure", median(scan, rounds), "ms");
    row_stated("scan.whole", median(all, rounds), "ms");
    row_stated("scan.check", median(check, rounds), "ms");
    is_kept = row_most("scan.structure_ratio", median(scan_ratio, rounds), "x", 2.5);
    is_kept &= row_most("scan.structure_memory", peak, "MB", 200);
    is_kept &= row_most("scan.whole_ratio", median(all_ratio, rounds), "x", 4);
    is_kept &= row_most("scan.whole_memory", whole_peak, "MB", 300);
    is_kept &= row_most("scan.check_ratio", median(check_ratio, rounds), "x", 4);
    is_kept &= row_most("scan.check_memory", check_peak, "MB", 300);
    is_kept &= row_most("scan.one_model", median(single, rounds), "ms", 50);
    return is_kept ? 0 : 1;
}

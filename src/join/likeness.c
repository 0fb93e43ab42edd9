#include "join/likeness.h"

#define TOKENS_MOST 12

/* --- words --- */

/* Names of one thing, as frameworks and model families spell them; some stand in several rows. */
static const char *const same_names[][14] = {
    {"q", "query", "q_proj", "wq", "q_lin", "to_q", "q_linear", "query_proj", "linear_q", "w_q",
     "query_layer", "q_net"},
    {"k", "key", "k_proj", "wk", "k_lin", "to_k", "k_linear", "key_proj", "linear_k", "w_k",
     "key_layer", "k_net"},
    {"v", "value", "v_proj", "wv", "v_lin", "to_v", "v_linear", "value_proj", "linear_v", "w_v",
     "value_layer", "v_net"},
    {"o", "out", "o_proj", "out_proj", "wo", "out_lin", "to_out", "proj", "c_proj", "dense",
     "o_net", "linear_out", "output"},
    {"qkv", "query_key_value", "c_attn", "wqkv", "qkv_proj", "in_proj", "to_qkv", "w_pack",
     "attn_qkv"},
    {"gate", "gate_proj", "w1", "wi_0"},
    {"up", "up_proj", "w3", "wi_1", "fc1", "c_fc", "lin1", "linear1", "linear_1", "dense_h_to_4h",
     "fc_in", "wi", "intermediate"},
    {"down", "down_proj", "w2", "wo", "fc2", "c_proj", "lin2", "linear2", "linear_2",
     "dense_4h_to_h", "fc_out"},
    {"norm1", "ln_1", "ln1", "norm_1", "input_layernorm", "attention_norm", "self_attn_layer_norm",
     "layernorm_before", "layer_norm1", "layer_norm_1", "sa_layer_norm", "attn_norm", "pre_norm"},
    {"norm2", "ln_2", "ln2", "norm_2", "post_attention_layernorm", "ffn_norm", "final_layer_norm",
     "layernorm_after", "layer_norm2", "layer_norm_2", "output_layer_norm", "mlp_norm"},
    {"norm", "ln_f", "ln_final", "final_norm", "final_layernorm", "final_layer_norm", "norm_f",
     "post_layernorm", "ln_post", "layer_norm"},
    {"wte", "tok_embeddings", "embed_tokens", "word_embeddings", "token_embedding", "tok_emb",
     "embedding", "embeddings", "token_embeddings", "embed", "embed_in", "word_embedding", "shared",
     "token_embedding_table"},
    {"wpe", "position_embeddings", "embed_positions", "pos_embed", "pos_emb", "position_embedding",
     "positional_embedding", "pos_embedding"},
    {"lm_head", "head", "output", "embed_out", "output_projection", "proj_out", "classifier",
     "predictions", "out_head"},
    {"layers", "h", "layer", "blocks", "block", "resblocks", "encoder_layers", "decoder_layers"},
    {"attn", "attention", "self_attn", "self_attention", "selfattention", "self", "mixer",
     "attention_self"},
    {"cross_attn", "encoder_attn", "crossattention", "cross_attention", "encdecattention"},
    {"mlp", "ffn", "feed_forward", "ff", "feedforward", "feed_forward_network"},
    {"bn", "batch_norm", "batchnorm", "norm_layer"},
    {"weight", "gamma", "kernel", "w", "scale", "g", "weights"},
    {"bias", "beta", "b", "offset", "shift"},
    {"running_mean", "moving_mean", "mean", "running_avg", "moving_average"},
    {"running_var", "moving_variance", "moving_var", "variance", "var", "running_variance"},
    {"num_batches_tracked"},
    {"conv", "convolution", "conv2d", "conv1d"},
    {"encoder", "enc", "encode"},
    {"decoder", "dec", "decode"},
    {"downsample", "down_sample", "shortcut", "skip", "residual"},
};
#define SAME_COUNT (sizeof same_names / sizeof same_names[0])

#define ROW_WEIGHT 19u

static char lower(char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (char)(byte - 'A' + 'a') : byte;
}

static bool is_named(cg_str text, const char *name)
{
    size_t len = strlen(name);

    if (text.len != len)
        return false;
    for (size_t i = 0; i < len; i++) {
        if (lower(text.ptr[i]) != name[i])
            return false;
    }
    return true;
}

/* The rows of the table that have this name, as bits. */
static uint32_t rows_of(cg_str text)
{
    uint32_t rows = 0;

    for (uint32_t i = 0; i < SAME_COUNT; i++) {
        for (size_t j = 0; j < 14 && same_names[i][j] != NULL; j++) {
            if (is_named(text, same_names[i][j]))
                rows |= 1u << i;
        }
    }
    return rows;
}

enum leaf likeness_leaf(cg_str text)
{
    uint32_t rows = rows_of(text) >> ROW_WEIGHT;

    for (unsigned i = 0; i < 5; i++) {
        if ((rows >> i & 1) != 0)
            return (enum leaf)(LEAF_WEIGHT + i);
    }
    return LEAF_OTHER;
}

bool likeness_is_head(cg_str segment)
{
    return (rows_of(segment) & rows_of(CG_LIT("lm_head"))) != 0 || is_named(segment, "decoder") ||
           is_named(segment, "readout") || is_named(segment, "logits");
}

bool likeness_is_table(cg_str segment)
{
    return (rows_of(segment) & rows_of(CG_LIT("wte"))) != 0 ||
           str_find(segment, CG_LIT("embed")) != SIZE_MAX;
}

bool likeness_is_running(cg_str leaf)
{
    enum leaf is = likeness_leaf(leaf);

    return is == LEAF_MEAN || is == LEAF_VARIANCE;
}

bool likeness_is_counter(cg_str leaf)
{
    return likeness_leaf(leaf) == LEAF_COUNTER;
}

/* --- likeness --- */

typedef struct tokens {
    char text[TOKENS_MOST][16];
    size_t count;
} tokens;

static void end_token(tokens *to, size_t *len)
{
    if (*len > 0 && to->count < TOKENS_MOST)
        to->text[to->count++][*len] = '\0';
    *len = 0;
}

/* `LayerNorm1` and `layer_norm_1`: layer, norm, 1. */
static void split_words(cg_str text, tokens *ret)
{
    size_t len = 0;
    char last = '_';

    ret->count = 0;
    for (size_t i = 0; i < text.len; i++) {
        char byte = text.ptr[i];
        bool is_mark = byte == '_' || byte == '-' || byte == ' ';
        bool is_number = byte >= '0' && byte <= '9';
        bool was_number = last >= '0' && last <= '9';
        bool is_new = lower(byte) != byte && lower(last) == last && !was_number;

        if (is_mark || is_new || is_number != was_number)
            end_token(ret, &len);
        if (!is_mark && len < 15 && ret->count < TOKENS_MOST)
            ret->text[ret->count][len++] = lower(byte);
        last = is_mark ? '_' : byte;
    }
    end_token(ret, &len);
}

static bool is_short_for(const char *a, const char *b)
{
    size_t len = strlen(a);

    return len >= 2 && strlen(b) > len && strncmp(a, b, len) == 0;
}

static double like_tokens(const char *a, const char *b)
{
    if (strcmp(a, b) == 0)
        return 1.0;
    if ((rows_of(str_from(a)) & rows_of(str_from(b))) != 0)
        return 0.9;
    return is_short_for(a, b) || is_short_for(b, a) ? 0.7 : 0.0;
}

double likeness_of(cg_str a, cg_str b)
{
    tokens left;
    tokens right;
    bool is_used[TOKENS_MOST] = {false};
    double sum = 0.0;

    if (str_equal(a, b))
        return 1.0;
    if (str_equal(a, CG_LIT("#")) || str_equal(b, CG_LIT("#")))
        return 0.0;
    if ((rows_of(a) & rows_of(b)) != 0)
        return 0.9;
    split_words(a, &left);
    split_words(b, &right);
    for (size_t i = 0; i < left.count; i++) {
        double best = 0.0;
        size_t at = 0;

        for (size_t j = 0; j < right.count; j++) {
            double one = is_used[j] ? 0.0 : like_tokens(left.text[i], right.text[j]);

            if (one > best) {
                best = one;
                at = j;
            }
        }
        if (best > 0.0)
            is_used[at] = true;
        sum += best;
    }
    if (left.count + right.count == 0)
        return 0.0;
    return 0.85 * 2.0 * sum / (double)(left.count + right.count);
}

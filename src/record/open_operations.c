#include "record/open_operations.h"

#include <string.h>

#include "record/sys.h"

void open_operation_free(open_operation *self)
{
    for (size_t i = 0; i < self->input_count && self->inputs != NULL; i++) {
        rec_free(self->inputs[i]);
    }
    rec_free(self->inputs);
    rec_free(self->event_id);
    rec_free(self->static_id);
    rec_free(self->op);
}

static bool copy_text(const char *text, char **ret)
{
    size_t room = text == NULL ? 0 : strlen(text) + 1;

    if (text == NULL) {
        return true;
    }
    *ret = rec_take(room);
    if (*ret == NULL) {
        return false;
    }
    memcpy(*ret, text, room);
    return true;
}

bool open_operation_copy(open_operation *ret, const char *static_id, const char *op,
                         const char *const *inputs, size_t input_count)
{
    bool is_whole = copy_text(static_id, &ret->static_id) && copy_text(op, &ret->op);

    if (is_whole && input_count > 0) {
        ret->inputs = rec_take(input_count * sizeof *ret->inputs);
        ret->input_count = ret->inputs != NULL ? input_count : 0;
        is_whole = ret->inputs != NULL;
    }
    for (size_t i = 0; i < ret->input_count && is_whole; i++) {
        is_whole = copy_text(inputs[i], &ret->inputs[i]);
    }
    return is_whole;
}

bool open_operation_name(open_operation *self, const char *event_id)
{
    return copy_text(event_id, &self->event_id);
}

bool open_operations_make_room(open_operations *self)
{
    if (self->count < self->capacity) {
        return true;
    }
    size_t capacity = self->capacity == 0 ? 16 : self->capacity * 2;
    open_operation *at = rec_resize(self->at, capacity * sizeof *at);
    if (at == NULL) {
        return false;
    }
    self->at = at;
    self->capacity = capacity;
    return true;
}

void open_operations_add(open_operations *self, const open_operation *operation)
{
    self->at[self->count++] = *operation;
}

/* Begun last, ended first: the search is short. */
bool open_operations_take(open_operations *self, uint64_t number, open_operation *ret)
{
    for (size_t i = self->count; i > 0; i--) {
        if (self->at[i - 1].number == number) {
            *ret = self->at[i - 1];
            memmove(&self->at[i - 1], &self->at[i], (self->count - i) * sizeof *self->at);
            self->count--;
            return true;
        }
    }
    return false;
}

void open_operations_free(open_operations *self)
{
    for (size_t i = 0; i < self->count; i++) {
        open_operation_free(&self->at[i]);
    }
    rec_free(self->at);
    *self = (open_operations){0};
}

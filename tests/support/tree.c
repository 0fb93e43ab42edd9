#include "support/tree.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/os_run.h"
#include "support/faults.h"

void tree_make(tree *self)
{
    heap memory;
    arena mem;
    cg_str real;

    place_make(self->root);
    /* $TMPDIR may lead through a link; answers come without. */
    heap_init(&memory, NULL);
    arena_init(&mem, &memory);
    assert_int_equal(os_real_path(str_from(self->root), &mem, &real, NULL), CG_OK);
    assert_true(real.len < sizeof self->root);
    memcpy(self->root, real.ptr, real.len + 1);
    arena_free(&mem);
}

cg_str tree_place(tree *self, const char *name)
{
    int len = snprintf(self->path, sizeof self->path, "%s%s%s", self->root,
                       name[0] != '\0' ? "/" : "", name);

    assert_true(len > 0 && (size_t)len < sizeof self->path);
    return str_from(self->path);
}

void tree_write(tree *self, const char *name, const char *text)
{
    FILE *file;

    tree_place(self, name);
    for (char *at = self->path + strlen(self->root) + 1; (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        mkdir(self->path, 0700);
        *at = '/';
    }
    file = fopen(self->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

void tree_program(tree *self, const char *name, const char *text)
{
    tree_write(self, name, text);
    assert_int_equal(chmod(self->path, 0755), 0);
}

void tree_link(tree *self, const char *name, const char *target)
{
    tree_place(self, name);
    assert_int_equal(symlink(target, self->path), 0);
}

bool tree_has(tree *self, const char *name)
{
    tree_place(self, name);
    return access(self->path, F_OK) == 0;
}

void tree_remove(tree *self)
{
    place_remove(self->root);
}

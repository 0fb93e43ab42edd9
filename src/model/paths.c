#include "model/paths.h"

size_t path_segments(const program *self, file_ref file, ast_ref path, sym ret[PATH_SEGMENTS],
                     bool *ret_is_global)
{
    const ast *tree = program_tree(self, file);
    size_t count = 0;

    *ret_is_global = false;
    while (path != 0) {
        const ast_node *node = ast_at(tree, path);
        ast_ref name = 0;

        switch (node->kind) {
        case AST_GENERIC_TYPE:
        case AST_GENERIC_TYPE_WITH_TURBOFISH: path = ast_child(tree, path, ROLE_TYPE); continue;
        case AST_GENERIC_FUNCTION: path = ast_child(tree, path, ROLE_FUNCTION); continue;
        case AST_SCOPED_IDENTIFIER:
        case AST_SCOPED_TYPE_IDENTIFIER:
            name = ast_child(tree, path, ROLE_NAME);
            path = ast_child(tree, path, ROLE_PATH);
            *ret_is_global = path == 0;
            break;
        case AST_IDENTIFIER:
        case AST_TYPE_IDENTIFIER:
        case AST_FIELD_IDENTIFIER:
        case AST_SHORTHAND_FIELD_IDENTIFIER:
        case AST_PRIMITIVE_TYPE:
        case AST_SELF:
        case AST_SUPER:
        case AST_CRATE:
        case AST_METAVARIABLE:
            name = path;
            path = 0;
            break;
        default: return 0;
        }
        if (count == PATH_SEGMENTS || name == 0 || ast_at(tree, name)->text == 0)
            return 0;
        ret[count++] = ast_at(tree, name)->text;
    }
    for (size_t i = 0, j = count; i + 1 < j; i++) {
        sym other = ret[--j];

        ret[j] = ret[i];
        ret[i] = other;
    }
    return count;
}

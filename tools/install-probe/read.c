/* Reads a run and prints how many spans it has. */
#include <candlegraph/candlegraph.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    cg_env env = {.size = sizeof env};
    cg_err err = {0};
    cg_run *run = NULL;
    cg_run_facts facts = {.size = sizeof facts};

    if (strcmp(cg_version(), CG_VERSION_TEXT) != 0 || argc != 2) {
        return 2;
    }
    if (cg_run_open(&env, argv[1], &run, &err) != CG_OK) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    cg_run_facts_of(run, &facts);
    printf("%llu spans\n", (unsigned long long)facts.span_count);
    cg_run_free(run);
    return 0;
}

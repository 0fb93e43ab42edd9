// The same from C++: every public header is one of C++ as well.
#include <candlegraph/candlegraph.h>
#include <candlegraph/record.h>
#include <candlegraph/runtime.h>
#include <candlegraph/scan.h>
#include <cstdio>
#include <memory>

int main(int argc, char **argv)
{
    cg_env env{};
    cg_err err{};
    cg_run *opened = nullptr;
    cg_run_facts facts{};

    env.size = sizeof env;
    facts.size = sizeof facts;
    if (argc != 2 || cg_run_open(&env, argv[1], &opened, &err) != CG_OK) {
        std::fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    std::unique_ptr<cg_run, decltype(&cg_run_free)> run(opened, cg_run_free);
    cg_run_facts_of(run.get(), &facts);
    std::printf("%llu spans\n", static_cast<unsigned long long>(facts.span_count));
    return 0;
}

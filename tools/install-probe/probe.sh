#!/bin/sh
# probe: does an installed candle-graph work? Runs inside the root it is installed in.
#
# usage: probe.sh SHARE WORK
#
# SHARE is the installed share folder; PATH, PKG_CONFIG_PATH, CMAKE_PREFIX_PATH, LD_LIBRARY_PATH and
# MANPATH are set by the caller where the place is not one of the system's. Prints a line per step.
set -eu
share=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
rm -rf "$work"
mkdir -p "$work"
cd "$work"

say() { printf '  %-12s %s\n' "$1" "$2"; }
fails() { echo "probe: $1" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }
spans() { [ "$("$@")" = "3 spans" ] || fails "$* did not find the 3 spans"; }

candle-graph --version | grep -q '^candle-graph [0-9]' || fails "candle-graph --version"
cc -std=c11 -Wall -Werror "$here/record.c" -o record \
    $(pkg-config --cflags --libs candlegraph-record)
./record run.jsonl
[ ! -e run.jsonl.spool ] || fails "the spool was left"
cc -std=c11 -Wall -Werror "$here/read.c" $(pkg-config --cflags --libs candlegraph) -o read
spans ./read run.jsonl
c++ -std=c++11 -Wall -Werror "$here/read.cpp" $(pkg-config --cflags --libs candlegraph) -o read_cxx
spans ./read_cxx run.jsonl
say pkg-config "C and C++ against the shared libraries"

# The archives, by name: -static would take the C library in as well.
libdir=$(pkg-config --variable=libdir candlegraph)
private=$(pkg-config --static --libs-only-l candlegraph | sed 's/-lcandlegraph\b//')
cc "$here/read.c" $(pkg-config --cflags candlegraph) "$libdir/libcandlegraph.a" $private -pthread \
    -o read_static
spans ./read_static run.jsonl
say archive "C against libcandlegraph.a"

cmake -S "$here" -B cmake >cmake.log 2>&1 || { cat cmake.log; fails "find_package"; }
cmake --build cmake >>cmake.log 2>&1 || { cat cmake.log; fails "find_package: build"; }
for kind in "" _static; do
    "cmake/record$kind" "cmake$kind.jsonl"
    spans "cmake/read$kind" "cmake$kind.jsonl"
    spans "cmake/read_cxx$kind" "cmake$kind.jsonl"
done
say find_package "C and C++, shared and static"

recorder=$share/candlegraph/recorder
cc -std=c11 -DPROBE_EMBEDDED -I"$recorder" "$here/record.c" "$recorder/candlegraph_record.c" \
    -pthread -lm -o embedded
./embedded embedded.jsonl
spans ./read embedded.jsonl
say recorder "compiled into the program, as two files"

candle-graph overview run.jsonl --format text | grep -q 'probe/update' || fails overview
candle-graph report run.jsonl --bundle bundle >receipt.json
candle-graph verify bundle --semantic >/dev/null
candle-graph view bundle --output run.html && grep -q cg-payload run.html || fails view
cargo-candle-graph candle-graph query run.jsonl --kind module-tree | grep -q probe/matmul ||
    fails "cargo candle-graph"
say programs "overview, report, verify, view, query"

if has man; then
    for page in "1 candle-graph" "1 candle-graph-query" "3 cg_run_open" "3 cg_run_free" \
        "3 candlegraph-record" "5 candle-graph-trace"; do
        # shellcheck disable=SC2086
        man $page 2>man.err >man.out || fails "man $page"
        [ -s man.out ] && [ ! -s man.err ] || { cat man.err; fails "man $page"; }
    done
    say man "sections 1, 3 and 5"
else
    say man "skipped: no man"
fi

word='ov'
got=$(bash -c '. "$1"; COMP_WORDS=(candle-graph "$2"); COMP_CWORD=1; _candle_graph
    printf "%s " "${COMPREPLY[@]}"' - "$share/bash-completion/completions/candle-graph" $word)
[ "$got" = "overview " ] || fails "bash completes \`$word\` with \`$got\`"
if [ -e /usr/share/bash-completion/bash_completion ] && [ "$share" = /usr/share ]; then
    bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader candle-graph
        complete -p candle-graph' >/dev/null || fails "bash does not load the completion"
fi
shells=bash
if has zsh; then
    zsh -fc '
        [ "$1" = /usr/share ] || fpath=("$1/zsh/site-functions" $fpath)
        autoload -U compinit; compinit -u -d "$2/zcompdump"
        [ "$_comps[candle-graph]" = _candle-graph ] && autoload +X _candle-graph' \
        - "$share" "$work" || fails "zsh does not load the completion"
    shells="$shells, zsh"
fi
if has fish; then
    HOME=$work XDG_DATA_DIRS=$share fish -c 'complete -C "candle-graph ov"' 2>/dev/null |
        grep -q '^overview' || fails "fish does not complete"
    shells="$shells, fish"
fi
say completions "$shells"

#!/bin/sh
# Puts the pinned third-party C sources under $1 (default build/third_party), once for all presets.
# Needs cargo 1.85 or newer. Integrity does not rest on a lock file: every file that is compiled or
# included is listed in third_party/sums.sha256. A second run finds the stamp and does nothing.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$here/build/third_party}
fail() { echo "third party: $*" >&2; exit 1; }
want=$(cat "$here/third_party/Cargo.toml" "$here/third_party/sums.sha256" | sha256sum)
want=${want%% *}
[ "$(cat "$out/.stamp" 2>/dev/null)" = "$want" ] && exit 0

command -v cargo >/dev/null 2>&1 ||
    fail "cargo 1.85 or newer is needed and none is on PATH (run tools/setup)"
minor=$(cargo --version 2>/dev/null | sed -n 's/^cargo 1\.\([0-9]*\)\..*/\1/p')
[ "${minor:-0}" -ge 85 ] ||
    fail "cargo 1.85 or newer is needed, this is $(cargo --version 2>&1 | head -n 1)"

mkdir -p "$out/.manifest/src"
# Two presets may be configured at once: the second waits here and then finds the stamp.
if command -v flock >/dev/null 2>&1; then
    exec 9>"$out/.lock"
    flock 9
    [ "$(cat "$out/.stamp" 2>/dev/null)" = "$want" ] && exit 0
fi
rm -rf "$out/vendor" "$out/.stamp"
cp "$here/third_party/Cargo.toml" "$out/.manifest/"
: >"$out/.manifest/src/lib.rs"
if ! cargo vendor --quiet --manifest-path "$out/.manifest/Cargo.toml" "$out/vendor" \
    >/dev/null 2>"$out/fetch.log"; then
    fail "cargo could not fetch the sources (offline?):" \
        "$(grep -v '^ *$' "$out/fetch.log" | tail -n 1 | sed 's/^ *//')"
fi
(cd "$out/vendor" && sha256sum --quiet -c "$here/third_party/sums.sha256" >"$out/fetch.log" 2>&1) ||
    fail "checksum differs: $(head -n 1 "$out/fetch.log")"
printf %s "$want" >"$out/.stamp"

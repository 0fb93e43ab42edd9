#!/bin/sh
# Puts what the page is built with (web/package-lock.json: esbuild, a compiler of TypeScript, dagre,
# uPlot) under $1 (default build/page-tools), once for all presets. Needs Node 18 or newer with npm.
# The lock file carries a digest of every package; no script of a package is run. A second run finds
# the stamp and does nothing, without a network.
set -eu
here=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$here/build/page-tools}
from=${2:-$here/web}
fail() { echo "page: $*" >&2; exit 1; }
command -v node >/dev/null 2>&1 ||
    fail "node 18 or newer is needed to build the viewer and none is on PATH" \
        "(run tools/setup, or build without the viewer: -DCG_VIEWER=OFF)"
major=$(node --version | sed -n 's/^v\([0-9]*\)\..*/\1/p')
[ "${major:-0}" -ge 18 ] ||
    fail "node 18 or newer is needed, this is $(node --version)" \
        "(or build without the viewer: -DCG_VIEWER=OFF)"
want=$(cat "$from/package.json" "$from/package-lock.json" | sha256sum)
want=${want%% *}
[ "$(cat "$out/.stamp" 2>/dev/null)" = "$want" ] && exit 0

command -v npm >/dev/null 2>&1 ||
    fail "npm is needed to fetch what the viewer is built with and none is on PATH" \
        "(run tools/setup, or build without the viewer: -DCG_VIEWER=OFF)"
mkdir -p "$out"
# Two presets may be configured at once: the second waits here and then finds the stamp.
if command -v flock >/dev/null 2>&1; then
    exec 9>"$out/.lock"
    flock 9
    [ "$(cat "$out/.stamp" 2>/dev/null)" = "$want" ] && exit 0
fi
rm -rf "$out/.stamp" "$out/node_modules"
cp "$from/package.json" "$from/package-lock.json" "$out/"
(cd "$out" && npm ci --ignore-scripts --no-audit --no-fund >fetch.log 2>&1) ||
    fail "npm could not fetch the packages of ${from##*/}/package-lock.json (offline?):" \
        "$(grep -i error "$out/fetch.log" | head -n 1)"
printf %s "$want" >"$out/.stamp"

/*
 * build: bundle web/src into one script.
 *
 * usage: node build.mjs TOOLS OUT
 *
 * TOOLS is the folder that scripts/fetch-page-tools.sh filled. OUT gets page.js and page.css, ready
 * to stand inside of an HTML element. Three kinds of imports are made here:
 *
 *   cg:views        every view of src/views, as a list: nobody edits one to add a view
 *   cg:notices      the licences of what comes from others and went into the page
 *   worker:PATH     a module and what it imports, as the text of a script for a worker
 *
 * The same sources always give the same bytes.
 */
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";

const [tools, out] = process.argv.slice(2).map((name) => path.resolve(name));
if (!out) {
  console.error("usage: node build.mjs TOOLS OUT");
  process.exit(2);
}
const web = path.dirname(fileURLToPath(import.meta.url));
const { build } = createRequire(path.join(tools, "package.json"))("esbuild");
const views = path.join(web, "src", "views");
const used = new Set();

const common = {
  bundle: true,
  write: false,
  minify: true,
  charset: "ascii",
  target: "es2022",
  format: "iife",
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
  absWorkingDir: web,
  nodePaths: [path.join(tools, "node_modules")],
};

function remember(result) {
  for (const name of Object.keys(result.metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(name);
    if (found) used.add(found[1]);
  }
  return result;
}

function notices() {
  return [...used].sort().map((name) => {
    const folder = path.join(tools, "node_modules", name);
    const about = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    if (!file) throw new Error(`${name} carries no licence text`);
    return { name, version: about.version, licence: about.license, text: readFileSync(path.join(folder, file), "utf8").trim() };
  });
}

const made = {
  name: "candle-graph",
  setup(api) {
    api.onResolve({ filter: /^cg:/ }, (args) => ({ path: args.path, namespace: "made" }));
    api.onLoad({ filter: /^cg:views$/, namespace: "made" }, () => {
      const names = readdirSync(views).filter((name) => name.endsWith(".ts")).sort();
      const lines = names.map((name, at) => `import v${at} from ${JSON.stringify(path.join(views, name))};`);
      lines.push(`export default [${names.map((_, at) => "v" + at).join(", ")}];`);
      return { contents: lines.join("\n"), resolveDir: views, loader: "ts" };
    });
    api.onLoad({ filter: /^cg:notices$/, namespace: "made" }, () => ({
      contents: JSON.stringify(notices()), loader: "json",
    }));
    api.onResolve({ filter: /^worker:/ }, (args) => ({
      path: path.resolve(args.resolveDir, args.path.slice("worker:".length)), namespace: "worker",
    }));
    api.onLoad({ filter: /.*/, namespace: "worker" }, async (args) => {
      const inner = remember(await build({ ...common, entryPoints: [args.path] }));
      return { contents: inner.outputFiles[0].text, loader: "text" };
    });
  },
};

const options = { ...common, plugins: [made], entryPoints: [path.join(web, "src", "main.ts")] };
// Once to learn what went in, once with the notices of all of it.
remember(await build(options));
const result = await build(options);
const style = await build({
  ...common, format: undefined, loader: { ".css": "css" }, entryPoints: [path.join(web, "page.css")],
});
mkdirSync(out, { recursive: true });
writeFileSync(path.join(out, "page.js"), result.outputFiles[0].text);
writeFileSync(path.join(out, "page.css"), style.outputFiles[0].text);

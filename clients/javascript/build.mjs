// Builds what browsers load: one file for each entry point, minified, without dependencies. All of them import core.js. Their source maps are in maps/.
// `npm run build` then runs tsc twice: for the types, and for readable/, the same modules as they were written, which Node and development builds load.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { minify } from "terser";

// What src/parts.ts exports beside src/core.ts is exported by dist/core.js under the short name that it has there.
const listed = [...readFileSync("src/parts.ts", "utf8").matchAll(/^export \{([^}]*)\}/gm)];
const internal = listed.flatMap(([, list]) => list.split(",").flatMap((one) => (one.includes("type ") ? [] : [one.trim()])));
const short = {}; // by name, once the core is built
const inCore = `export * from "./core.js"; export { ${internal} } from "./parts.js";`;
const parts = {
  name: "parts",
  setup(plugin) {
    plugin.onLoad({ filter: /\/src\/\w+\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8").replace(/\{([^}]*)\} from "\.\/parts\.js"/g, (_, some) => {
        const renamed = some.split(",").map((one) => (short[one.trim()] ? `${short[one.trim()]} as ${one.trim()}` : one));
        return `{${renamed}} from "./core.js"`;
      }),
    }));
  },
};

const IMPORT = /import\s*\{([^}]*)\}\s*from\s*"\.\/core\.js";/g;

/** Return a module with one import of the core in place of several. A name that was imported again, as `need2`, becomes the first one. */
function merged(code) {
  const imports = [...code.matchAll(IMPORT)].flatMap(([, list]) => list.split(",").map((one) => one.trim().split(" as ")));
  const first = {};
  let rest = code.replace(IMPORT, (one) => one.replace(/[^\n]/g, "")); // as many lines as before, for the source map
  for (const [name, local = name] of imports) rest = rest.replaceAll(new RegExp(`\\b${local}\\b`, "g"), (first[name] ??= local));
  const list = Object.entries(first).map(([name, local]) => `${name} as ${local}`);
  return list.length ? `import { ${list} } from "./core.js"; ${rest}` : code;
}

async function bundle(name, options, module = true, finish = (code) => code) {
  const made = await build({ bundle: true, format: "esm", target: "es2022", charset: "utf8", write: false, legalComments: "none", minifySyntax: true, sourcemap: "external", sourcesContent: false, outfile: `dist/${name}.js`, ...options });
  const [written, text] = made.outputFiles.map((file) => file.text);
  // An engine prints the line of an error that nobody caught: lines are short.
  const format = { max_line_len: 150 };
  const sourceMap = { content: JSON.parse(written), filename: `${name}.js` };
  const { code, map } = await minify(merged(text), { module, ecma: 2020, format, sourceMap, compress: { passes: 3, unsafe_arrows: true, hoist_vars: name === "core" } });
  writeFileSync(`dist/${name}.js`, `${finish(code)}\n//# sourceMappingURL=../maps/${name}.js.map\n`);
  writeFileSync(`maps/${name}.js.map`, `${map}\n`);
}

mkdirSync("dist", { recursive: true });
mkdirSync("maps", { recursive: true });
await bundle("core", { stdin: { contents: inCore, resolveDir: "src" } }, true, (code) =>
  code.replace(/(?<=export\s*\{)[^}]*(?=\})/, (list) => {
    const exported = list.split(",").map((given) => {
      const one = given.trim().replace(/\s+/g, " ");
      const [local, name = local] = one.split(" as ");
      if (!internal.includes(name)) return one;
      return (short[name] = local);
    });
    return exported.sort();
  }),
);
const entries = { dither: "index", account: "view" }; // where the file has another name than its source
for (const name of ["angles", "auto", "box", "changes", "elements", "hashed", "lattice", "nearest", "node", "optional", "packed", "paths", "polynomial", "presence", "profile", "projective", "react", "relay", "routes", "rules", "several", "signatures", "tables", "testing", "vectors"]) entries[name] = name;
for (const [name, source] of Object.entries(entries)) {
  await bundle(name, { entryPoints: [`src/${source}.ts`], external: ["./core.js", "./nearest.js", "./paths.js", "./projective.js", "./several.js", "./auto.js", "./elements.js", "./dither.js", "node:*", "react"], plugins: [parts] });
}

// Pages that are opened from disk may not load modules: for them one script, which makes the global name `dither`.
await bundle("dither.global", { format: "iife", entryPoints: ["src/global.ts"] }, false);

// What a page writes into integrity=, and what `dither audit` compares.
const digest = (name) => `sha384-${createHash("sha384").update(readFileSync(`dist/${name}`)).digest("base64")}`;
const files = readdirSync("dist").filter((name) => name.endsWith(".js")).sort();
writeFileSync("dist/integrity.json", `${JSON.stringify(Object.fromEntries(files.map((name) => [name, digest(name)])), null, 1)}\n`);

// Builds what browsers load: one file for each entry point, minified, without dependencies. All of them import core.js.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { minify } from "terser";

// What src/parts.ts exports beside src/core.ts gets a short name in dist/core.js.
const names = (file) =>
  [...readFileSync(`src/${file}.ts`, "utf8").matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list]) =>
    list.split(",").flatMap((one) => (one.includes("type ") ? [] : [one.trim()])),
  );
const short = names("parts").map((name, at) => [name, String.fromCharCode(97 + at)]);
const list = (pairs) => pairs.map(([from, to]) => `${from} as ${to}`).join(", ");

const inCore = `export * from "./core.js"; export { ${list(short)} } from "./parts.js";`;
const alias = Object.fromEntries(short);
const parts = {
  name: "parts",
  setup(plugin) {
    plugin.onLoad({ filter: /\/src\/\w+\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8").replace(/\{([^}]*)\} from "\.\/parts\.js"/g, (_, some) => {
        const renamed = some.split(",").map((one) => (alias[one.trim()] ? `${alias[one.trim()]} as ${one.trim()}` : one));
        return `{${renamed}} from "./core.js"`;
      }),
    }));
  },
};

async function bundle(name, options, module = true) {
  const made = await build({ bundle: true, format: "esm", target: "es2022", charset: "utf8", write: false, legalComments: "none", ...options });
  const { code } = await minify(made.outputFiles[0].text, { module, ecma: 2020, compress: { passes: 3, unsafe_arrows: true } });
  writeFileSync(`dist/${name}.js`, code);
}

mkdirSync("dist", { recursive: true });
await bundle("core", { stdin: { contents: inCore, resolveDir: "src" } });
for (const [name, file] of Object.entries({ dither: "index", angles: 0, lattice: 0, nearest: 0, optional: 0, packed: 0, paths: 0, projective: 0, relay: 0, rules: 0, several: 0, signatures: 0, testing: 0 })) {
  await bundle(name, { entryPoints: [`src/${file || name}.ts`], external: ["./core.js", "./paths.js"], plugins: [parts] });
}

// Pages that are opened from disk may not load modules: for them one script with the global name `dither`.
await bundle("dither.global", { format: "iife", globalName: "dither", entryPoints: ["src/global.ts"] }, false);

// What a page writes into integrity=, and what `dither audit` compares.
const digest = (name) => `sha384-${createHash("sha384").update(readFileSync(`dist/${name}`)).digest("base64")}`;
const files = readdirSync("dist").filter((name) => name.endsWith(".js")).sort();
writeFileSync("dist/integrity.json", `${JSON.stringify(Object.fromEntries(files.map((name) => [name, digest(name)])), null, 1)}\n`);

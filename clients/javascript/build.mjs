// Builds the bundles that browsers load: one file for each entry point, minified, without dependencies.
import { build } from "esbuild";

const common = {
  outdir: "dist",
  bundle: true,
  minify: true,
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
};

await build({
  ...common,
  format: "esm",
  entryPoints: {
    core: "src/core.ts",
    dither: "src/index.ts",
    angles: "src/angles.ts",
    lattice: "src/lattice.ts",
    projective: "src/projective.ts",
    testing: "src/testing.ts",
  },
});

// Pages that are opened from disk may not load modules: for them one script with the global name `dither`.
await build({ ...common, format: "iife", globalName: "dither", entryPoints: { "dither.global": "src/index.ts" } });

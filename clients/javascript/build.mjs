// Builds the bundles that browsers load: one file for each entry point, minified, without dependencies.
import { build } from "esbuild";

await build({
  entryPoints: {
    core: "src/core.ts",
    dither: "src/index.ts",
    angles: "src/angles.ts",
    projective: "src/projective.ts",
    testing: "src/testing.ts",
  },
  outdir: "dist",
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
});

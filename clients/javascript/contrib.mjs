import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import * as acorn from "acorn";
const gz = (t) => gzipSync(t, { level: 9 }).length;
for (const f of process.argv.slice(2)) {
  const text = readFileSync(`dist/${f}.js`, "utf8"); const all = gz(text);
  const tree = acorn.parse(text, { ecmaVersion: 2023, sourceType: "module" });
  const pieces = [];
  const add = (n) => pieces.push([all - gz(text.slice(0, n.start) + text.slice(n.end)), text.slice(n.start, n.start + 60).replace(/\n/g, " "), n.end - n.start]);
  for (const n of tree.body) {
    if (n.type === "VariableDeclaration") for (const d of n.declarations) { add(d); if (d.init?.type === "ObjectExpression") for (const p of d.init.properties) add(p); }
    else add(n);
  }
  pieces.sort((a, b) => b[0] - a[0]);
  console.log(f, all); for (const p of pieces.slice(0, 40)) console.log(...p);
}

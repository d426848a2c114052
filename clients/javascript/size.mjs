import z from "node:zlib"; import fs from "node:fs";
const g=f=>z.gzipSync(fs.readFileSync("dist/"+f),{level:9}).length;
console.log(g("core.js"),g("dither.js"),g("core.js")+g("dither.js"), "relay", g("relay.js"), "sig", g("signatures.js"), "rules", g("rules.js"), "paths", g("paths.js"))

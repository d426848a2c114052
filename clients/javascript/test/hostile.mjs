// node hostile.mjs ADDRESS MANY SECONDS: send one waiting report to ADDRESS/n/batches for each n, and print what became of it. Three times the seconds are the deadline.
import { readFileSync } from "node:fs";
import { Device, memoryStore } from "../dist/dither.js";

const [, , address, many, seconds] = process.argv;
const real = globalThis.setTimeout;
globalThis.setTimeout = (call, wait, ...more) => real(call, wait === 30_000 ? 3000 * seconds : wait, ...more);
const { questions } = JSON.parse(readFileSync(new URL("../../conformance/2/draws.json", import.meta.url), "utf8"));
const { specification } = questions.find(({ name }) => name.startsWith("Podium"));
let device, asking;
for (let n = 0; n < +many; n++) {
  if (n % 200 === 0) {
    device = await Device.open({ epsilon: 2 ** 19, store: memoryStore() });
    asking = device.asking(specification, { name: "minutes", asker: "city.example" });
  }
  if (!(await device.body(asking))) await device.answer(asking, 1);
  const { sent, waiting } = await device.send(asking, `${address}/${n}/batches`);
  console.log(sent ? "acknowledged" : waiting ? "kept" : "dropped");
}

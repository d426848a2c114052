// Devices in JavaScript: each opens an account, answers both questions and sends one batch.
// node devices.mjs ADDRESS COUNT SEED      ADDRESS is that of the campaign
import { Device, memoryStore } from "../../clients/javascript/dist/dither.js";
import { packedBody } from "../../clients/javascript/dist/packed.js";

const [address, count, seed] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])];
const published = await (await fetch(address)).json();
const campaign = JSON.parse(published.campaign);
const questions = Object.fromEntries(campaign.questions.map((one) => [one.name, one.specification]));

let state = seed >>> 0; // of the pretended people; the noise comes from the system's cryptographic source
const uniform = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};
const travels = () => {
  const u = uniform();
  return u < 0.3 ? "bus" : u < 0.75 ? "car" : u < 0.9 ? "bicycle" : "on foot";
};

let acknowledged = 0;
for (let number = 0; number < count; number++) {
  const device = await Device.open({ epsilon: 2, store: memoryStore() });
  const options = { asker: campaign.asker, repeat: campaign.repeat };
  const minutes = device.asking(questions.minutes, { name: "minutes", ...options });
  const travel = device.asking(questions.travel, { name: "travel", ...options });
  await device.answer(minutes, 20 + 50 * uniform());
  await device.answer(travel, travels());
  acknowledged += (await device.send([minutes, travel], `${address}/batches`, { label: "web", pack: packedBody })).sent;
}
console.log(acknowledged);

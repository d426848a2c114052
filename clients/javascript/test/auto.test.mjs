// autoSend and answers that are not in order. What it does otherwise is in send.test.mjs.
import assert from "node:assert/strict";
import { test } from "node:test";
import { autoSend } from "../dist/auto.js";

const DAY = 86_400_000;

for (const [retryAfter, waits] of [[-5, 60_000], [-Infinity, 60_000], [NaN, 60_000], [1e-9, 1000], [30, 30_000], [1e300, DAY], [Infinity, DAY]]) {
  test(`after ${retryAfter} seconds it sends again in ${waits / 1000}, and again`, async (context) => {
    context.mock.timers.enable({ apis: ["setTimeout", "Date"] });
    let sent = 0;
    const device = { send: async () => (sent++, { sent: 0, waiting: 1, refused: [], retryAfter }) };
    const { stop } = autoSend(device, [], "https://clinic.example/");
    const settle = async () => { for (let turn = 0; turn < 9; turn++) await null; };
    await settle();
    assert.equal(sent, 1);
    context.mock.timers.tick(waits - 1);
    await settle();
    assert.equal(sent, 1);
    context.mock.timers.tick(1);
    await settle();
    assert.equal(sent, 2);
    stop();
  });
}

// A classic service worker, so that every browser runs it: the client is the global `dither`.
importScripts("/clients/javascript/dist/dither.global.js");

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("message", async ({ data, source }) => {
  try {
    const device = await dither.Device.open({ epsilon: 2, store: dither.indexedStore("worker") });
    const question = device.asking(data, { name: "minutes", asker: "clinic.example" });
    const outcomes = [];
    for (let value = 0; value < 3; value++) outcomes.push((await device.answer(question, value)).is);
    let sent = 0;
    while (await device.body(question)) sent += (await device.send(question, "/reports", { pack: dither.packedBody })).sent;
    source.postMessage({ outcomes, sent, page: typeof document });
  } catch (error) {
    source.postMessage({ error: String(error) });
  }
});

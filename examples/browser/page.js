// Asks one question, shows what is promised before it asks, and sends the report; a dry run when opened from disk.
const ASKER = "clinic.example";
const dry = location.protocol === "file:";
const at = (id) => document.getElementById(id);
const percent = (share) => `${Math.round(100 * share)}\u202f%`; // no line ends within it

async function begin() {
  const store = dry ? dither.memoryStore() : dither.indexedStore("waiting");
  const device = await dither.Device.open({ epsilon: 3, rules: dither.allRules({ epoch: "week" }), store });
  const asking = device.asking(SPECIFICATION, { name: "minutes waited", asker: ASKER });

  async function show() {
    const { epsilon, odds, reach, left } = await asking.promise();
    at("promise").textContent =
      `Your answer is changed at random on this device before it is sent (ε = ${epsilon}). ` +
      `Whatever is sent, it is at most ${odds.toFixed(2)} times likelier under your answer than under any other: ` +
      `whoever guessed ${percent(0.5)} before can reach ${percent(reach)} at most. ` +
      `This week, ε = ${left.toFixed(2)} is left for all questions together.`;
  }

  at("mode").hidden = !dry;
  at("answer").textContent = dry ? "Try it" : "Answer";
  at("answer").disabled = false;
  at("minutes").addEventListener("input", () => (at("shown").value = at("minutes").value));
  at("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    at("answer").disabled = true;
    try {
      const outcome = dry ? await device.dryRun(asking) : await device.answer(asking, at("minutes").valueAsNumber);
      await show();
      if (outcome.is === "refused") at("told").textContent = `Not answered: ${outcome.reason}. Nothing was sent.`;
      else if (dry) at("told").textContent = "Your answer would be drawn and sent. Nothing was.";
      else {
        at("told").textContent = `Stored: ${outcome.report}. Sending …`;
        const { sent, waiting } = await device.send(asking, "/reports");
        at("told").textContent = waiting
          ? "It was not sent. What was drawn is kept and is sent next time."
          : `Sent ${sent} report${sent === 1 ? "" : "s"}; this one was ${outcome.report}.`;
      }
    } catch {
      at("told").textContent = "It was not sent. What was drawn is kept and is sent next time.";
    } finally {
      at("answer").disabled = false;
    }
  });
  await show();
}

begin().catch((error) => (at("promise").textContent = `This device cannot answer: ${error.message}.`));

// Answers requests on standard input, one JSON object a line: dither conformance -- node clients/javascript/conformance.mjs
import { createInterface } from "node:readline";
import { sectors } from "./dist/angles.js";
import { draws, hex, Malformed, readQuestion } from "./dist/core.js";
import { hashed } from "./dist/hashed.js";
import { lattice } from "./dist/lattice.js";
import { tables } from "./dist/tables.js";
import { box } from "./dist/box.js";
import { routes } from "./dist/routes.js";
import { directions } from "./dist/vectors.js";
import { nearest } from "./dist/nearest.js";
import { optional } from "./dist/optional.js";
import { packedBody } from "./dist/packed.js";
import { paths } from "./dist/paths.js";
import { profile } from "./dist/profile.js";
import { projective } from "./dist/projective.js";
import { polynomial } from "./dist/polynomial.js";
import { several } from "./dist/several.js";
import { binaryRequest, binaryResponse, encapsulate } from "./dist/relay.js";
import { changes as kept, drawChange } from "./dist/changes.js";
import { allRules } from "./dist/rules.js";
import { Device, memoryStore } from "./dist/dither.js";
import { readCampaign, readList } from "./dist/signatures.js";
import { canonical, checkAddress, expBelow, jsonBody, judge, judgeWithdrawal, withdrawalBody } from "./dist/testing.js";
import { bytes, happen, scripted, unknown, withEphemeral } from "./test/events.mjs";

Object.assign(draws, { ...hashed, lattice, sectors, projective, several, polynomial, optional, box, directions, routes, ...paths, ...nearest, ...profile, ...tables });

const read = new Map();

function question(specification) {
  if (!read.has(specification)) read.set(specification, readQuestion(specification));
  return read.get(specification);
}

/** What fails is refused, in whatever way a library says so. */
async function refusing(work) {
  try {
    return await work();
  } catch (error) {
    throw new Malformed(error.reason ?? "text");
  }
}

async function answer(asked) {
  switch (asked.do) {
    case "draw": {
      if (unknown(asked.specification)) return { unknown: true };
      const source = scripted(asked.bytes);
      return { report: hex(question(asked.specification).report(asked.value, source)), left: source.left };
    }
    case "read":
      return { fingerprint: question(asked.specification).fingerprint };
    case "campaign": {
      const { id, retired, questions, terms, unanswered } = await readCampaign(asked.published, asked.key);
      const asks = terms.questions.map(({ name }) => {
        if (unanswered.includes(name)) return { question: name, unknown: true };
        const [specification, { asker, repeat, days = null, start = null, every, changes, times, limit, phase }] = questions[name];
        const { fingerprint } = question(specification);
        const mark = changes ? kept.of(question(specification), days, changes).fingerprint : fingerprint;
        return { asker, question: name, fingerprint: mark, repeat, days, start, every, changes, times, limit, phase };
      });
      return { campaign: id, retired, asks };
    }
    case "value": {
      const { questions } = await readCampaign(asked.published, asked.key);
      return { taken: questions[asked.question][1].value(asked.value) };
    }
    case "words": {
      const { questions } = await readCampaign(asked.published, asked.key);
      const device = await Device.open({ epsilon: 1, store: memoryStore() });
      const inquiry = device.asking(...questions[asked.question]);
      return { text: inquiry.text(asked.languages), labels: inquiry.labels(asked.languages) };
    }
    case "open": {
      const { questions } = await readCampaign(asked.published, asked.key);
      const device = await Device.open({ epsilon: 1, store: memoryStore() });
      const inquiry = device.asking(...Object.values(questions)[0]);
      const now = Date.now;
      Date.now = () => Date.parse(asked.day) + 864e5 - 1; // the last moment of the day
      const { reason } = await device.answer(inquiry, 42).finally(() => (Date.now = now));
      const fetch = () => Promise.reject(new TypeError());
      const sent = await device.send(inquiry, "https://city.example", { label: asked.label, fetch }).catch((error) => error);
      return { open: reason !== "ended", listed: sent.reason !== "label" };
    }
    case "bound":
      return { below: expBelow(asked.epsilon).toString(16) };
    case "batch":
      return {
        json: jsonBody(asked.batch, asked.label, asked.reports),
        packed: hex(packedBody(asked.batch, asked.label, asked.reports)),
      };
    case "fate":
      return { fate: judge(asked.batch, asked.status, new TextDecoder().decode(bytes(asked.content))).fate };
    case "withdrawal":
      return { body: withdrawalBody(asked.batch) };
    case "withdrawn":
      return { withdrawn: judgeWithdrawal(asked.batch, asked.status, new TextDecoder().decode(bytes(asked.content)))[0] };
    case "address":
      checkAddress(asked.address);
      return { used: true };
    case "list": {
      const { heads } = await readList(asked.published, asked.key, asked.kept ?? undefined);
      return { count: heads.length, head: heads.at(-1) };
    }
    case "request": {
      const plain = binaryRequest(asked.method, asked.address, asked.form, bytes(asked.body));
      return { plain: hex(plain).replace(/(00)*$/, ""), length: plain.length };
    }
    case "response": {
      const response = await refusing(() => binaryResponse(bytes(asked.plain)));
      return { status: response.status, content: hex(new Uint8Array(await response.arrayBuffer())) };
    }
    case "encapsulate": {
      const [sealed, open] = await withEphemeral(asked.ephemeral, () => encapsulate(asked.configuration, bytes(asked.plain)));
      return { sealed: hex(sealed), ...(asked.answer && { opened: hex(await refusing(() => open(bytes(asked.answer)))) }) };
    }
    case "account": {
      const [outcome, state] = happen(asked.state, asked.event, asked.policy);
      return { outcome, state: state ?? asked.state };
    }
    case "change": {
      const { days, changes, group, before, intervals, values, reported } = asked;
      const read = kept.of(question(asked.specification), days, changes);
      const [flips, source] = [scripted(asked.keyed), scripted(asked.bytes)];
      const all = group ? Math.ceil((days - 1) / 2 ** (group - 1)) : 1;
      const [report, now] = drawChange(read, read.inside(values), { group, changes, all, before, intervals }, reported, flips, source);
      return { fingerprint: read.fingerprint, report: hex(report), reported: now, left: flips.left + source.left };
    }
    case "permanent": {
      const { source } = allRules();
      const report = ({ key, asker, question: name, specification, value }) => {
        const { fingerprint, inside, draw } = question(specification);
        const input = inside(value);
        return hex(draw(input, source(key, { asker, question: name, fingerprint, repeat: "per value" }, input, 0)));
      };
      return { reports: asked.asks.map(report) };
    }
    default:
      return { unknown: true };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, ...asked } = JSON.parse(line);
  let told;
  try {
    told = await answer(asked);
  } catch (error) {
    told = error instanceof Malformed ? { refused: error.reason } : { error: error.message };
  }
  process.stdout.write(`${JSON.stringify({ id, ...told })}\n`);
}

/** Marginals: several attributes of a person together, a profile. `Object.assign(draws, profile)` makes the client know the draw. It loads projective.js. */

import { asBytes, codes, draws, type Draw, type Fields, little, need, type Ratio, type Reader, type Source, integer } from "./parts.js";
import { projective } from "./projective.js";

/** Return how many bytes a number below `count` has in a report. */
const widthOf = (count: number): number => [1, 2, 4, 8].find((width) => 256 ** width >= count)!;

/** A draw of a code: how many codes there are, how many numbers a report has, how many values each has. */
interface Inner {
  count: number;
  chosen: number;
  draw: Draw<number>;
}

/** Read a draw that has no domain of its own. A field `domain` of it is read by nobody, and so refused. */
function readInner(given: Fields): Inner {
  const { draw, order, dimension } = given;
  need(["response", "indices", "projective"].includes(draw as string), "draw");
  const count = (draw === "response" ? given["cells"] : draw === "indices" ? given["size"] : (order ** dimension - 1) / (order - 1)) as number;
  const own: Fields = { domain: { kind: "categories", count: draw === "projective" ? 2 : count }, outside: "refuse" };
  const reader = draw === "projective" ? projective : draws[draw as string]!;
  const read = reader(new Proxy(given, { get: (fields, name) => own[name as string] ?? (fields[name as string] as unknown) }));
  return { count, chosen: draw === "indices" ? (given["chosen"] as number) : 1, draw: read as Draw<number> };
}

const questions: Reader = (device) => {
  const { domain, outside } = device;
  need(domain.kind === "profile" && outside === "refuse" && Array.isArray(domain.attributes), "domain");
  const parts = [...(domain.attributes as [string, Fields][])].map(([name, list, ...more]) => {
    need(typeof name === "string" && !more.length, "domain");
    return [name, ...codes({ domain: list, outside })] as const;
  });
  need(parts.length > 1 && parts.length <= 64 && new Set(parts.map(([name]) => name)).size === parts.length, "domain");
  const inner = [...(device["draws"] as Fields[])].map(readInner);
  let [total, values] = [0, 0];
  const functions = [...(device["questions"] as [number[], number[], number, number][])].map(([attributes, table, weight, number, ...more]) => {
    const places = [...attributes].map((place) => integer({}, "questions", 0, parts.length - 1, place));
    const { count } = inner[integer({}, "questions", 0, inner.length - 1, number)]!;
    const size = places.reduce((product, place) => product * parts[place]![2], 1);
    need(!more.length && places.length && new Set(places).size === places.length && size <= 2 ** 21 && table.length === size && (values += size) <= 2 ** 21, "draw");
    total += integer({}, "questions", 1, 2 ** 32, weight);
    return { places, table: [...table].map((value) => integer({}, "questions", 0, count - 1, value)), inner: inner[number]!, end: total };
  });
  need(total === 2 ** 32 && functions.length <= 2 ** 14, "draw");
  const ratios = functions.map((one) => one.inner.draw.ratio);
  const columns = Math.max(...inner.map(({ chosen }) => chosen));
  const width = widthOf(Math.max(functions.length, ...inner.map(({ count }) => count)));
  return {
    names: "Marginals",
    ratio: ratios.reduce((most: Ratio, ratio) => (ratio[0] * most[1] > most[0] * ratio[1] ? ratio : most)),
    /** A profile is an object with a label for each attribute. */
    inside: (value) => {
      if (Object(value) !== value || Object.keys(value as Fields).length !== parts.length) return;
      const row = parts.map(([name, code]) => (Object.hasOwn(value as Fields, name) ? code((value as Fields)[name]) : undefined));
      return row.includes(undefined) ? undefined : row;
    },
    draw: (row: number[], source: Source) => {
      const word = little(source.take(4));
      const request = functions.reduce((count, { end }) => count + +(word >= end), 0);
      const { places, table, inner: chosen } = functions[request]!;
      const at = places.reduce((sum, place) => sum * parts[place]![2] + row[place]!, 0);
      const report = chosen.draw.draw(table[at]!, source);
      const size = widthOf(chosen.count);
      const numbers = Array.from({ length: columns }, (_, n) => (n < chosen.chosen ? little(report, n * size, (n + 1) * size) : 0));
      return Uint8Array.from([request, ...numbers].flatMap((number) => [...asBytes(number, width)]));
    },
  };
};

/** The reader of the draw. */
export const profile: { [kind: string]: Reader } = { questions };

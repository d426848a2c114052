/** The K nearest of N points: `Object.assign(draws, nearest)` makes the client know the draws `nearest` and `listing`. It loads paths.js. */
import { asCell, below, codes, lottery, need, integer } from "./parts.js";
import { asPath, inArea, pair, readArea, spend } from "./paths.js";
/** Return numbers of 16 bits, written as four hexadecimal digits each. */
export function unpack(text, field) {
    need(text.length <= 2 ** 17 && /^([0-9a-f]{4})*$/.test(text), "number", field);
    return (text.match(/..../g) ?? []).map((digits) => parseInt(digits, 16));
}
/** The integers of a draw: one of K given numbers with probability K·d/2^w, otherwise any number below N. */
export function window(given) {
    const cells = integer(given, "cells", 2, 65536);
    const width = integer(given, "width", 1, cells - 1);
    const [draw, step, all] = lottery(width, given);
    const outside = all - BigInt(width) * step;
    const one = (near, source) => {
        const [drawn, ticket] = draw(source, 0);
        const any = below(source, cells); // whichever way it falls
        return asCell(any + drawn * (near[drawn * ticket] - any), cells);
    };
    return [cells, width, one, [outside + BigInt(cells) * step, outside]];
}
/** Cut to 0 … 65535. */
const short = (x) => Math.min(Math.max(Math.floor(x), 0), 65535);
/** Read the rule from a value to its K nearest points: of a box of this number of sides, or (0) of a sphere. Return it with the box. */
export function selector(given, sides, cells, width) {
    const box = given["box"] && given["box"].map((side) => pair(side, "box"));
    const axes = sides || 3;
    need(sides ? box?.length === sides : box === null, "selector");
    box?.forEach(([low, high]) => need(low >= -1e30 && high <= 1e30 && high - low >= 1e-30, "selector"));
    const scales = given["scales"].map((scale) => integer(given, "scales", 1, 511, scale));
    const grain = 2 ** integer(given, "grain", 0, 12);
    let points = [];
    if (given["kind"] === "grid") {
        const per = given["per"].map((count) => integer(given, "per", 1, 65536, count));
        const scale = integer(given, "scale", 0, 65536);
        need(box && per.length === axes, "selector");
        points = [[]];
        for (const count of per) {
            need(points.length * count <= 65536, "selector");
            const side = Array.from({ length: count }, (_, i) => short(32768 + Math.floor(((2 * i + 1 - count) * scale) / (2 * count))));
            points = points.flatMap((point) => side.map((at) => [...point, at]));
        }
    }
    else {
        need(given["kind"] === "points", "selector");
        const flat = unpack(given["points"], "points");
        need(flat.length % axes === 0, "selector");
        while (flat.length)
            points.push(flat.splice(0, axes));
    }
    need(points.length === cells && scales.length === axes, "selector");
    const integers = (at) => {
        if (box)
            return at.map((x, i) => short(((x - box[i][0]) / (box[i][1] - box[i][0])) * 65536));
        const [across, up] = at.map((x) => x * (Math.PI / 180));
        const level = Math.cos(up);
        return [level * Math.cos(across), level * Math.sin(across), Math.sin(up)].map((x) => short(32767 * x + 32768.5));
    };
    const near = (place) => {
        const at = integers(place).map((x) => x - (x % grain) + Math.floor(grain / 2));
        const far = points.map((point) => point.reduce((sum, x, i) => sum + (scales[i] * (at[i] - x)) ** 2, 0));
        return Array.from(far.keys()).sort((a, b) => far[a] - far[b] || a - b).slice(0, width);
    };
    return [near, box];
}
const places = (device) => {
    const [cells, width, draw, ratio] = window(device);
    const area = readArea(device);
    const [near] = selector(device["selector"], device["domain"].kind === "sphere" ? 0 : 2, cells, width);
    return {
        names: "Optimal",
        ratio,
        spend,
        inside: inArea(area),
        draw: (path, source) => asPath(path.map((place) => [draw(near(place), source)])),
    };
};
const listing = (device) => {
    const [cells, width, draw, ratio] = window(device);
    const [inside, count] = codes(device);
    const flat = unpack(device["lists"], "lists");
    const lists = Array.from({ length: count }, (_, i) => flat.slice(i * width, (i + 1) * width));
    // A number that stood twice in a list would be likelier than ε allows.
    need(flat.length === count * width && lists.every((list) => new Set(list).size === width && list.every((i) => i < cells)), "lists");
    return { names: "Optimal", ratio, inside, draw: (code, source) => draw(lists[code], source) };
};
/** The readers of both draws. */
export const nearest = { nearest: places, listing };

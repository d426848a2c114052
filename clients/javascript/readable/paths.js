/** Places and paths, TraCS and Polar: `Object.assign(draws, paths)` makes the client know the draws `pair`, `walk` and `polar`. */
import { pathAssumes } from "./account.js";
import { draws, little, need, real, integer } from "./parts.js";
const SLACK = 1e-12; // relative to a side: the least room before the border
const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
/** Return a list of two numbers as a pair; refuse any other. */
export const pair = (given, field) => {
    need(given.length === 2, "domain", field);
    return given.map((one) => real({}, field, one));
};
/** Refuse ends of an interval, or of a side of the box around an area, that doubles would not hold well. */
const extent = (...numbers) => {
    const ends = [Math.min(...numbers), Math.max(...numbers)];
    need(ends[0] >= -1e30 && ends[1] <= 1e30 && ends[1] - ends[0] >= 1e-30, "domain");
    return ends;
};
const UNIT = { high: 1, kind: "interval", low: 0 };
function rectangle(x, y) {
    const towards = ([low, high], at, step) => Math.abs(step) / Math.max(step > 0 ? high - at : at - low, SLACK * (high - low));
    return {
        clip: ([a, b]) => [clamp(a, ...x), clamp(b, ...y)],
        axes: (place) => place,
        gauge: (at, step) => Math.max(towards(x, at[0], step[0]), towards(y, at[1], step[1])),
        box: [x, y],
    };
}
function disk(radius, [x, y]) {
    extent(0, radius);
    return {
        box: [extent(x - radius, x + radius), extent(y - radius, y + radius)],
        clip: ([a, b]) => {
            const share = radius / Math.hypot(a - x, b - y);
            return share < 1 ? [x + (a - x) * share, y + (b - y) * share] : [a, b];
        },
        axes: (place) => place,
        disk: [radius, [x, y]],
        gauge: (at, [p, q]) => {
            const [a, b] = [at[0] - x, at[1] - y];
            const least = SLACK * radius ** 2;
            const room = Math.max(radius ** 2 - (a * a + b * b), least);
            const along = a * p + b * q;
            const square = p ** 2 + q ** 2;
            const root = Math.abs(along) + Math.sqrt(along * along + square * room);
            return along > 0 ? root / room : square / Math.max(root, least * SLACK);
        },
    };
}
function parallelogram([x, y], [a, b], [c, d]) {
    const area = a * d - b * c;
    const sides = [Math.hypot(a, b), Math.hypot(c, d)];
    need(Math.abs(area) > 1e-9 * sides[0] * sides[1], "domain");
    sides.forEach((side) => extent(0, side));
    const box = [extent(x, x + a, x + c, x + (a + c)), extent(y, y + b, y + d, y + (b + d))];
    const unit = rectangle([0, 1], [0, 1]);
    const along = ([p, q]) => [(p * d - q * c) / area, (q * a - p * b) / area];
    const axes = ([p, q]) => unit.clip(along([p - x, q - y]));
    return {
        clip: (place) => {
            const exact = along([place[0] - x, place[1] - y]);
            const [s, t] = axes(place);
            const far = Math.max(Math.abs(exact[0] - s), Math.abs(exact[1] - t));
            return far > SLACK ? [x + s * a + t * c, y + s * b + t * d] : place;
        },
        axes,
        gauge: (at, step) => unit.gauge(axes(at), along(step)),
        lines: [UNIT, UNIT],
        box,
    };
}
/** Longitude and latitude; a longitude is an angle; `pair` counts it from −180°. */
const sphere = {
    clip: ([longitude, latitude]) => {
        const turned = (longitude + 180) % 360;
        const inside = Math.abs(longitude) <= 180 ? longitude : turned + 360 * +(turned < 0) - 180;
        return [inside, clamp(latitude, -90, 90)];
    },
    axes: ([longitude, latitude]) => [longitude + 180, latitude],
    gauge: () => 1,
    lines: [
        { kind: "circle", period: 360 },
        { high: 90, kind: "interval", low: -90 },
    ],
};
/** Return the area of a device text. */
export function readArea({ domain, outside }) {
    const side = (given) => {
        const low = real(given, "low");
        need(given["kind"] === "interval" && low < given["high"], "domain");
        return extent(low, real(given, "high"));
    };
    need(outside === "clip", "domain");
    switch (domain.kind) {
        case "rectangle":
            return { ...rectangle(side(domain.x), side(domain.y)), lines: [domain.x, domain.y] };
        case "disk":
            need(domain.radius > 0, "domain");
            return disk(real(domain, "radius"), pair(domain.centre, "centre"));
        case "parallelogram":
            return parallelogram(pair(domain.corner, "corner"), pair(domain.first, "first"), pair(domain.second, "second"));
    }
    need(domain.kind === "sphere" && domain.radius > 0, "domain");
    extent(0, real(domain, "radius"));
    return sphere;
}
/** Return the number of a cell, by the codebook of this number of cells. */
function codebook(given, cells) {
    need(!(cells > 2 ** 20), "cells");
    if (given["values"]) {
        const table = [];
        given["runs"].forEach((run, i) => {
            for (let left = integer(given, "runs", 1, 2 ** 20 - table.length, run); left--;)
                table.push(real(given, "values", given["values"][i]));
        });
        need(table.length === (cells ?? table.length), "cells");
        return (cell) => table[cell];
    }
    const [offset, step] = [real(given, "offset"), real(given, "step")];
    const low = given["low"] === undefined ? -Infinity : real(given, "low");
    const high = given["high"] === undefined ? Infinity : real(given, "high");
    return (cell) => clamp(offset + step * cell, low, high);
}
/** Return ε·times, rounded up to a double, and the assumptions of a path of this number of locations. */
export function spend(epsilon, times) {
    let scale = 1;
    for (; epsilon % 1; scale *= 2)
        epsilon *= 2;
    const exact = BigInt(epsilon) * BigInt(integer({ times }, "times", 1, 65536));
    const near = Number(exact);
    return [(BigInt(near) < exact ? near + near * 1.5 * 2 ** -53 : near) / scale, pathAssumes(times)];
}
/** Return the function from a path to places inside an area, or undefined for other values. */
export const inArea = (area) => (value) => Array.isArray(value) && value.length && [...value].every((one) => Array.isArray(one) && one.length === 2 && [...one].every(Number.isFinite))
    ? value.map(area.clip)
    : undefined;
/** Return the cells of a location as bytes, all equally wide. */
function widened(cells, size = Math.max(...cells.map((cell) => cell.length))) {
    return cells.flatMap((cell) => Array.from({ length: size }, (_, i) => cell[i])); // undefined becomes 0
}
/** Return the report of a path: for each location whether a path begins there, and its cells, all equally wide. */
export function asPath(rows) {
    return Uint8Array.from(rows.flatMap((cells, row) => widened([Uint8Array.of(+!row), ...cells])));
}
const ROUND = { kind: "circle", period: 2 * Math.PI };
/** Return the direction of a step, from 0 on. */
const angleOf = ([a, b]) => {
    const angle = Math.atan2(b, a);
    return angle + 2 * Math.PI * +(angle < 0);
};
/** Read the draws of the two numbers of a place on these lines. Return them with their ratio. */
function readParts(device, lines) {
    const [first, second] = [device["first"], device["second"]].map((part, i) => {
        need(JSON.stringify(part["domain"]) === JSON.stringify(lines[i]), "domain");
        // The part of a pair has no rule for values outside: its inputs are inside.
        const complete = { __proto__: part, outside: part["domain"].kind === "circle" ? "wrap" : "clip" };
        const known = draws[part["draw"]];
        need(known && part["draw"] + "" === part["draw"], "draw");
        const read = known(complete);
        need(!read.delta && !read.spend, "draw");
        return read;
    });
    return [first, second, [first.ratio[0] * second.ratio[0], first.ratio[1] * second.ratio[1]]];
}
/** One place of a disk: the distance from the centre, and the direction. */
const polar = (device) => {
    const { clip, disk } = readArea(device);
    need(disk, "domain");
    const [radius, [x, y]] = disk;
    const [first, second, ratio] = readParts(device, [{ high: radius, kind: "interval", low: 0 }, ROUND]);
    const inside = inArea({ clip });
    return {
        names: "Polar",
        ratio,
        spend,
        // A path of one place; the value may also be the place itself.
        inside: (value) => inside(value?.length === 1 ? value : [value]),
        draw: ([[a, b]], source) => {
            const way = [a - x, b - y];
            const cell = (part, value) => part.draw(part.inside(value), source);
            return Uint8Array.from(widened([cell(first, Math.hypot(...way)), cell(second, angleOf(way))]));
        },
    };
};
/** Read a draw that reports two cells for each location of a path. */
function reader(walks) {
    return (device) => {
        const area = readArea(device);
        const lines = walks ? [ROUND, UNIT] : area.lines;
        need(!(walks && area === sphere) && lines, "domain");
        const [first, second, ratio] = readParts(device, lines);
        const begin = walks ? pair(device["start"], "start") : undefined;
        const books = walks ? device["codebooks"].map((book, i) => codebook(book, device[i ? "second" : "first"]["cells"])) : [];
        const slack = SLACK * (device["domain"].radius ?? 0); // on a circle alone rounding may put a place outside
        need(!begin || (books.length === 2 && area.clip(begin).every((x, i) => Math.abs(x - begin[i]) <= slack)), "start");
        // The reference of a walk is the last report's place, unless it is fixed: then it is always the start.
        const fixed = device["reference"] !== undefined;
        need(!fixed || (walks && device["reference"] === "fixed"), "reference");
        /** Draw the report of a place from a reference; return it with the next reference. */
        const step = (at, place, source) => {
            const draw = (part, value) => part.draw(part.inside(value), source);
            if (!at) {
                const [one, two] = area.axes(place);
                return [[draw(first, one), draw(second, two)], at];
            }
            const way = [place[0] - at[0], place[1] - at[1]];
            const cells = [draw(first, angleOf(way)), draw(second, Math.min(area.gauge(at, way), 1))];
            const [turn, share] = cells.map((cell, i) => books[i](little(cell, 0, cell.length)));
            const unit = [Math.cos(turn), Math.sin(turn)];
            const length = clamp(share, 0, 1) / area.gauge(at, unit);
            return [cells, [at[0] + unit[0] * length, at[1] + unit[1] * length]];
        };
        return {
            names: walks ? "TraCSD Strawman" : "TraCSC",
            ratio,
            spend,
            inside: inArea(area),
            draw: (path, source) => {
                let at = begin;
                return asPath(path.map((place) => {
                    const [cells, next] = step(at, place, source);
                    if (!fixed)
                        at = next;
                    return cells;
                }));
            },
        };
    };
}
export const paths = { pair: reader(false), walk: reader(true), polar };

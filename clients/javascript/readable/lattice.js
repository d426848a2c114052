/** Noise on a lattice, such as Laplace, Staircase and Gaussian: `draws.lattice = lattice` makes the client know the draw. */
import { alias, largest, TOTAL } from "./alias.js";
import { asCell, digest, hexadecimal, line, need, readStart, real, integer } from "./parts.js";
const ONE = 1n << 256n;
const sum = (list) => list.reduce((all, one) => all + one, 0n);
/** Return base^e(z) by distance as fixed-point numbers, and a bound of the sum from the last distance on. */
function decay(noise, base, reach) {
    const kind = noise["decay"];
    const values = [];
    if (kind === "normal") {
        for (let value = ONE, factor = base, z = 0; z <= reach; z++) {
            values.push(value);
            value = (value * factor) >> 256n;
            factor = (factor * base * base) >> 512n;
        }
        // Quotients of successive terms decrease, so a geometric series with the first one is an upper bound.
        let quotient = ONE;
        for (let square = base, exponent = 2 * reach + 1; exponent; exponent >>= 1) {
            if (exponent & 1)
                quotient = (quotient * square) >> 256n;
            square = (square * square) >> 256n;
        }
        return [values, (values[reach] * ONE) / (ONE - quotient)];
    }
    need(kind === "stairs" || kind === "geometric", "draw");
    const run = kind === "stairs" ? integer(noise, "run", 1, 2 ** 52) : 1; // geometric weights are stairs of one step
    const first = kind === "stairs" ? integer(noise, "first", 1, run) : 1;
    for (let value = ONE, z = 0; z <= reach; z++) {
        if (z >= first && (z - first) % run === 0)
            value = (value * base) >> 256n;
        values.push(value);
    }
    const last = values[reach];
    const rest = (((first - reach) % run) + run) % run || run;
    return [values, BigInt(rest) * last + BigInt(run) * ((last * base) / (ONE - base))];
}
/** Return the weights by distance from the centre, of total 2^128 over both sides; all but the centre's are rounded up. */
function weigh(noise, kind) {
    const base = hexadecimal(noise, "base", 64);
    const reach = integer(noise, "reach", 1, 32768);
    need(base, "step");
    const [values, beyond] = decay(noise, base, reach);
    let last = values.pop();
    if (kind === "clamped")
        last = beyond;
    const copies = kind === "ring" ? 1n : 2n;
    const mass = 2n * sum(values) - ONE + copies * last;
    let outer = [...values.slice(1), last].map((value) => (value * (TOTAL - (1n << 40n)) + mass - 1n) / mass);
    if (kind === "bounded")
        outer = outer.map((weight) => (weight < 1n << 32n ? 1n << 32n : weight));
    const weights = [TOTAL - 2n * sum(outer.slice(0, -1)) - copies * outer.at(-1), ...outer];
    for (let z = kind === "clamped" ? reach - 1 : reach; z--;)
        need(weights[z] >= weights[z + 1], "step");
    const content = new Uint8Array(17 * weights.length);
    weights.forEach((weight, i) => {
        for (let at = 0; at < 17; at++, weight >>= 8n)
            content[17 * i + at] = Number(weight & 255n);
    });
    need(digest(content, 16) === noise["digest"], "fingerprint");
    return weights;
}
/** Return a weight of `spent` over `total`, rounded up; throw unless it is at most a stated δ. */
function keeps(spent, total, stated) {
    const delta = real({ delta: stated }, "delta");
    need(delta > 0 && delta < 1, "privacy");
    let numerator = delta;
    let denominator = 1n;
    for (; numerator % 1; denominator *= 2n)
        numerator *= 2;
    need(spent * denominator <= BigInt(numerator) * total, "privacy");
    return Number(((spent << 128n) + total - 1n) / total) / 2 ** 128;
}
export const lattice = (given) => {
    const [inside, ends] = line(given);
    const shape = given["lattice"];
    const rule = given["start"];
    const kind = shape["kind"];
    const noise = shape["noise"];
    need(kind === "clamped" || ((kind === "ring" || kind === "bounded") && noise["decay"] !== "normal"), "draw");
    const weights = weigh(noise, kind);
    const reach = weights.length - 1;
    const outer = weights.slice(1);
    const start = readStart(rule, 2 * reach, ends);
    need(rule["kind"] === "line", "start");
    if (kind === "ring") {
        need(rule["fraction"] === 0, "start");
        const draw = alias([...weights, ...outer.slice(0, -1).reverse()]);
        const cells = 2 * reach;
        return {
            names: "Purkayastha",
            ratio: [weights[0], outer.at(-1)],
            inside,
            draw: (value, source) => asCell((((start(value, source) + draw(source)) % cells) + cells) % cells, cells),
        };
    }
    const draw = alias([...outer.slice().reverse(), ...weights]);
    if (kind === "bounded") {
        // A larger scale would put values further apart than the ratio holds for.
        need(rule["fraction"] === 0 && rule["last"] === reach && rule["scale"] <= reach / (ends[1] - ends[0]), "start");
        integer(shape, "shift", reach, reach); // a smaller one assumes that two values are near
        // The total weight inside the domain, by step: between inputs k steps apart the ratio is at most the ratio of two weights times the ratio
        // of two totals, and it grows with k if these two products are at most 1.
        let below = -weights[0];
        const sums = weights.map((weight) => (below += weight));
        const totals = sums.map((one, z) => one + sums[reach - z] + weights[0]);
        const one = largest(outer, weights);
        const two = largest(totals.slice(0, -1), totals.slice(1));
        need(weights[reach] > 1n << 32n && one[0] * two[0] <= one[1] * two[1], "step");
        return {
            names: "BoundedLaplace",
            ratio: [weights[0], weights[reach]],
            inside,
            draw: (value, source) => {
                const step = start(value, source) - reach;
                for (;;) {
                    const place = step + draw(source);
                    if (place >= 0 && place <= reach)
                        return asCell(place, reach + 1);
                }
            },
        };
    }
    const fraction = integer(shape, "fraction", 1, 30);
    const step = 2 ** fraction;
    const last = integer(shape, "last", 1, 2 ** 31 - step);
    const steps = Math.ceil(last / step);
    need(rule["last"] === last && rule["fraction"] === fraction, "start");
    need(steps < reach && (last < step || last % step === 0), "cells");
    // The largest ratio is between the two ends of the domain: of two weights, or of the sums at the last report.
    const pile = sum(weights.slice(reach - steps));
    const [top, bottom] = largest([pile, ...weights.slice(0, reach - steps)], [weights[reach], ...weights.slice(steps, reach)]);
    const all = BigInt(step);
    const share = BigInt(Math.min(last, step));
    return {
        names: noise["decay"] === "normal" ? "Gaussian" : "Laplace Staircase",
        ratio: [(all - share) * bottom + share * top, all * bottom],
        inside,
        draw: (value, source) => {
            const place = start(value, source) + draw(source);
            return asCell(Math.min(Math.max(place, steps), 2 * reach) - steps, 2 * reach - steps + 1);
        },
        ...(noise["decay"] === "normal" && {
            // The largest P(S | x) − e^ε·P(S | x′), between the two ends of the domain; outermost sums count completely.
            delta: (factor, stated) => {
                const one = 1n << 320n;
                const weight = (z) => weights[Math.abs(z)];
                const excess = (gain) => (gain > 0n ? gain : 0n);
                let first = 0n;
                let second = 0n;
                if (last >= step) {
                    for (let z = steps - reach + 1; z <= steps / 2; z++)
                        first += all * excess(one * weight(z) - factor * weight(steps - z));
                }
                else {
                    for (let z = 2 - reach; z < reach; z++) {
                        const mixed = (all - share) * weight(z) + share * weight(z - 1);
                        first += excess(one * all * weight(z) - factor * mixed);
                        second += excess(one * mixed - factor * all * weight(z));
                    }
                }
                return keeps((first > second ? first : second) + one * all * pile, one * all * TOTAL, stated);
            },
        }),
    };
};

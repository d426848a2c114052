/** Vectors of many numbers, `dt.Vectors`: `draws.directions = directions` makes the client know the draw. It loads nearest.js. */
import { asBytes, bits, need, integer } from "./parts.js";
import { window } from "./nearest.js";
const EQUAL = 128; // axes up to which directions have equal lengths
/** Replace a row by its product with the Hadamard matrix, by butterflies of 1, 2, 4, …: the order is specified. */
function transform(row) {
    for (let half = 1; half < row.length; half *= 2) {
        for (let begin = 0; begin < row.length; begin += 2 * half) {
            for (let i = begin; i < begin + half; i++) {
                const left = row[i];
                const right = row[i + half];
                row[i] = left + right;
                row[i + half] = left - right;
            }
        }
    }
    return row;
}
const low = (value) => BigInt.asUintN(64, value);
/** Return signs from the bits of SplitMix64's words that begin with a number. */
function signs(first, count) {
    const made = new Float64Array(count);
    for (let at = 0; at < count; at += 64) {
        let word = low((first + BigInt(at >> 6) + 1n) * 0x9e3779b97f4a7c15n);
        word = low((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n);
        word = low((word ^ (word >> 27n)) * 0x94d049bb133111ebn);
        word ^= word >> 31n;
        const halves = [Number(word & 0xffffffffn), Number(word >> 32n)];
        for (let bit = 0; bit < 64 && at + bit < count; bit++)
            made[at + bit] = 1 - 2 * ((halves[bit >> 5] >>> (bit & 31)) & 1);
    }
    return made;
}
/** Return the numbers of the K directions with the largest products, ascending; of equal ones the first. */
function nearest(vector, seed, cells, width) {
    const axes = vector.length;
    const size = axes > EQUAL ? 2 ** Math.ceil(Math.log2(axes)) : cells;
    const own = signs(BigInt(seed) << 16n, size);
    const first = signs((1n << 48n) + (BigInt(seed % 256) << 16n), axes);
    const fold = (row) => {
        const folded = new Float64Array(cells);
        for (let k = 0; k < size; k++)
            folded[1 + ((619 * k) % (cells - 1))] += row[k] * own[k];
        return transform(folded);
    };
    let products = new Float64Array(cells);
    const row = new Float64Array(size);
    if (axes > EQUAL) {
        vector.forEach((x, i) => (row[i] = x * first[i]));
        products = fold(transform(row));
    }
    else {
        const squares = new Float64Array(cells);
        vector.forEach((x, axis) => {
            row.fill(0)[axis] = 1; // row `axis` of the matrix
            const made = fold(transform(row));
            made.forEach((g, i) => {
                products[i] += g * first[axis] * x;
                squares[i] += g * g;
            });
        });
        squares.forEach((square, i) => (products[i] /= Math.sqrt(Math.max(square, 1))));
    }
    const order = [...products.keys()].sort((a, b) => products[b] - products[a] || a - b);
    return order.slice(0, width).sort((a, b) => a - b);
}
/** A vector is an array of numbers: plain, or a Float32Array or Float64Array. */
export const directions = (device) => {
    const { domain, outside } = device;
    const [cells, width, draw, ratio] = window(device);
    const { exact, length, centre } = domain;
    need(domain.kind === "vectors" && outside === "clip" && typeof exact === "boolean", "domain");
    const size = integer(domain, "dimension", 1 + +exact, 65536);
    need(typeof length === "number" && length >= 1e-30 && length <= 1e30, "domain");
    need(centre === null || (Array.isArray(centre) && centre.length === size && centre.some(Boolean) && centre.every((x) => Math.abs(x) <= 1e30)), "domain");
    need(Number.isInteger(Math.log2(cells)) && cells > 63 && cells < 4097, "cells");
    const middle = centre ?? new Array(size).fill(0);
    return {
        names: "Optimal",
        ratio,
        inside: (value) => {
            if (!(Array.isArray(value) || ArrayBuffer.isView(value)))
                return;
            const given = [...value];
            if (given.length !== size || !given.every(Number.isFinite))
                return;
            const own = given.map((x, i) => (x - middle[i]) / length);
            const most = own.reduce((a, x) => Math.max(a, Math.abs(x)), 0);
            if (!Number.isFinite(most) || (exact && !most))
                return;
            const unit = most > 2 || exact ? most : 1;
            const root = Math.sqrt(own.reduce((a, x) => a + (x / unit) * (x / unit), 0));
            const far = root * unit;
            if (exact ? Math.abs(far - 1) <= 1e-2 : far <= 1 + 1e-5)
                return given.map((x) => x + 0);
            return own.map((x, i) => middle[i] + length * (exact ? x / unit / root : x / far) + 0);
        },
        draw: (vector, source) => {
            const seed = bits(source, 32); // before the vector is looked at
            const lifted = new Float64Array(size + +!exact);
            let squares = 0;
            vector.forEach((x, i) => {
                const own = (lifted[i] = (x - middle[i]) / length);
                squares += own * own;
            });
            if (!exact)
                lifted[size] = Math.sqrt(Math.max(1 - squares, 0));
            const number = draw(nearest(lifted, seed, cells, width), source);
            const two = number.length > 1 ? number : Uint8Array.of(number[0], 0);
            return Uint8Array.of(...two, ...asBytes(seed, 4), 0, 0);
        },
    };
};

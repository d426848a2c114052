/** Tables of integers, such as Matrix, Exponential, Cumulative and JointMoments: `Object.assign(draws, tables)` makes the client know the three draws. */
import { alias, largest, TOTAL } from "./alias.js";
import { asCell, bits, codes, hexadecimal, line, little, need, real, integer } from "./parts.js";
import { record } from "./record.js";
/** Read the rows of a table: the draw of each, the number of reports, and the largest ratio over all pairs of rows. */
function readRows(given) {
    const values = given["values"].map((text) => hexadecimal({ text }, "text", 1024));
    need(values.length && values.at(-1) > 0n && values.every((value, i) => !i || value < values[i - 1]), "step");
    const used = new Set();
    const rows = given["rows"].map((places) => {
        const row = places.map((place) => {
            const index = integer(given, "rows", 0, values.length - 1, place);
            used.add(index);
            return index;
        });
        need(row.length && row.length <= 65536, "step");
        const total = row.reduce((all, index) => all + values[index], 0n);
        const weights = row.map((index) => ((values[index] << 128n) + total - 1n) / total);
        const first = row.indexOf(row.reduce((a, b) => Math.min(a, b))); // values fall with the index
        weights[first] -= weights.reduce((all, weight) => all + weight, 0n) - TOTAL;
        need(weights.every((weight) => weight > 0n), "step");
        return weights;
    });
    const cells = rows[0]?.length ?? 0;
    need(rows.length && rows.length <= 1024 && rows.every((row) => row.length === cells) && used.size === values.length, "step");
    const columns = rows[0].map((_, at) => rows.map((row) => row[at]));
    const ratio = largest(columns.map((column) => column.reduce((a, b) => (a > b ? a : b))), columns.map((column) => column.reduce((a, b) => (a < b ? a : b))));
    return [rows.map(alias), cells, ratio];
}
const channel = (given) => {
    const [inside, ends] = line(given);
    const [rows, cells, ratio] = readRows(given);
    const rule = given["start"];
    const points = rule["kind"] === "points";
    const edges = (points ? rule["points"] : rule["edges"]).map((edge) => real({ edge }, "edge"));
    need(points || rule["kind"] === "edges", "start");
    need(edges.every((edge, i) => !i || (points ? edge > edges[i - 1] : edge >= edges[i - 1])), "start");
    /** Return how many of some numbers are at most a value. */
    const up = (some, value) => some.reduce((count, edge) => count + +(edge <= value), 0);
    if (points) {
        need(given["domain"].kind === "interval" && edges.length > 1 && edges.length === rows.length && edges[0] === ends[0] && edges.at(-1) === ends[1], "start");
        const inner = edges.slice(1, -1);
        return {
            names: "Exponential Cumulative Matrix",
            ratio,
            inside,
            // One of the two points around the value, rounded up with the probability of its share of the way.
            draw: (value, source) => {
                const place = up(inner, value);
                const parts = Math.floor(((value - edges[place]) / (edges[place + 1] - edges[place])) * 2 ** 32 + 0.5);
                return asCell(rows[place + +(bits(source, 32) < parts)](source), cells);
            },
        };
    }
    const labels = rule["labels"].map((label) => integer(rule, "labels", 0, rows.length - 1, label));
    need(labels.length === edges.length + 1, "start");
    return { names: "Exponential Cumulative Matrix", ratio, inside, draw: (value, source) => asCell(rows[labels[up(edges, value)]](source), cells) };
};
const table = (given) => {
    const [inside, count] = codes(given);
    const [rows, cells, ratio] = readRows(given);
    need(rows.length === count, "step");
    return { names: "Cumulative Workload Matrix", ratio, inside, draw: (code, source) => asCell(rows[code](source), cells) };
};
const STEPS = 2 ** 15; // places between two knots of an axis
/** Several numbers, or one: each selects one of its three quadratic B-splines at random, and these select the row. */
const splines = (given) => {
    const [rows, cells, ratio] = readRows(given);
    const pieces = integer(given, "pieces", 1, 16);
    const ends = given["ends"].map(([low, high, ...more]) => {
        need(!more.length, "domain", "ends");
        return [real({ low }, "low"), real({ high }, "high")];
    });
    need(ends.length && ends.length < 9 && rows.length === (pieces + 2) ** ends.length, "step");
    const alone = given["domain"].kind === "interval" && line(given);
    need(!alone || (ends.length === 1 && alone[1].every((end, i) => end === ends[0][i])), "domain", "ends");
    const several = alone ? undefined : record(given, ends, "domain");
    need(ends.every(([low, high]) => low >= -1e30 && high <= 1e30 && high - low >= 1e-30), "domain");
    /** Return the number of the spline that a place selects. */
    const spline = (x, [low, high], source) => {
        const most = pieces * STEPS;
        const place = Math.min(Math.max(Math.floor(((x - low) / (high - low)) * most + 0.5), 0), most);
        const part = Math.min(Math.floor(place / STEPS), pieces - 1);
        const way = place - part * STEPS;
        const left = (STEPS - way) ** 2 * (part ? 1 : 2);
        const right = way ** 2 * (part < pieces - 1 ? 1 : 2);
        const drawn = little(source.take(4)) >>> 1;
        return part + +(drawn >= left) + +(drawn >= 2 * STEPS ** 2 - right);
    };
    return {
        names: "JointMoments",
        ratio,
        inside: (value) => {
            if (several)
                return several(value);
            const x = alone[0](value);
            return x === undefined ? x : [x];
        },
        draw: (row, source) => {
            const at = row.reduce((at, x, axis) => at * (pieces + 2) + spline(x, ends[axis], source), 0);
            return asCell(rows[at](source), cells);
        },
    };
};
/** The draws of tables: `channel` about a number, `table` about a category, `splines` about several numbers. */
export const tables = { channel, table, splines };

/** A number that may be missing: `null` is "no answer", a private one. `draws.optional = optional` makes the client know the draw. */
import { asCell, line, lottery, need, readStart, integer } from "./parts.js";
export const optional = (given) => {
    const { domain } = given;
    need(domain.kind === "optional" && given["start"].kind === "line", "domain");
    const [inside, ends] = line({ domain: domain.of, outside: given["outside"] });
    const cells = integer(given, "cells", 2, 65536);
    const size = Math.log2(cells);
    // Windows of numbers wrap around the other cells, and would meet themselves if they were wider than half of all.
    const width = integer(given, "width", 1, cells / 2);
    need(Number.isInteger(size), "cells");
    const room = cells - width;
    const [draw, step, all] = lottery(width, given);
    const start = readStart(given["start"], cells, ends);
    const outside = all - BigInt(width) * step;
    return {
        names: "Podium PM SW OGPM OGPMU Focused",
        ratio: [outside + BigInt(cells) * step, outside],
        inside: (value) => (value === null ? NaN : inside(value)),
        draw: (value, source) => {
            // Who does not answer draws the start of the lowest value: the same bytes are taken, and nothing branches.
            const missing = +Number.isNaN(value);
            const begin = start([value, ends[0]][missing], source);
            const [drawn, ticket, uniform] = draw(source, size);
            const number = (((begin + ticket * drawn) % room) + room) % room;
            return asCell([uniform, [number, room + ticket][missing]][drawn], cells);
        },
    };
};

/** Complete paths, `dt.Routes`: `draws.routes = routes` makes the client know the draw. It loads nearest.js. */
import { unpack, window } from "./nearest.js";
import { need, integer } from "./parts.js";
import { inArea, readArea } from "./paths.js";
/** Half to even, as everywhere else. */
const round = (x) => {
    const near = Math.round(x);
    return x % 1 === 0.5 ? near - (near % 2) : near;
};
/** Places at equal shares of the sum of steps, each between the two locations of its step; in integers. */
function resample(path, points, steps) {
    const sums = [0];
    for (const step of steps)
        sums.push(sums[sums.length - 1] + step);
    const parts = points - 1;
    let at = 0;
    return Array.from({ length: points }, (_, i) => {
        const target = i * sums[steps.length];
        while (at < path.length - 2 && sums[at + 1] * parts <= target)
            at++;
        const [one, other] = [path[at], path[at + 1] ?? path[at]];
        let over = target - sums[at] * parts;
        let size = ((sums[at + 1] ?? sums[at]) - sums[at]) * parts;
        if (!size)
            over = size = 1;
        return [0, 1].map((axis) => Math.floor((one[axis] * (size - over) + other[axis] * over) / size));
    });
}
/** Read the draw: the K public paths nearest to the public path that is next to the own one. */
export const routes = (device) => {
    const [cells, width, draw, ratio] = window(device);
    const { domain, outside } = device;
    need(domain.kind === "routes" && domain["area"]["kind"] !== "sphere", "domain");
    const area = readArea({ domain: domain["area"], outside });
    const points = integer(domain, "points", 2, 64);
    const { distance, by } = domain;
    need(["mean", "warped", "frechet"].includes(distance) && ["length", "order"].includes(by), "domain");
    const sides = area.box.map(([low, high]) => high - low);
    const scales = sides.map((side) => Math.max(1, round((256 * side) / Math.max(...sides))));
    const flat = unpack(device["paths"], "paths");
    need(flat.length === 2 * points * cells, "paths");
    const places = Array.from({ length: points * cells }, (_, i) => [flat[2 * i], flat[2 * i + 1]]);
    const paths = Array.from({ length: cells }, (_, i) => places.slice(i * points, (i + 1) * points));
    const apart = (one, other) => {
        const [x, y] = [scales[0] * (one[0] - other[0]), scales[1] * (one[1] - other[1])];
        return Math.floor(Math.sqrt(x * x + y * y));
    };
    const far = (one, other) => {
        if (distance === "mean")
            return one.reduce((sum, place, i) => sum + apart(place, other[i]), 0);
        let above = [];
        for (const place of one) {
            const row = [];
            other.forEach((point, j) => {
                const step = apart(place, point);
                const before = Math.min(above[j - 1] ?? Infinity, above[j] ?? Infinity, row[j - 1] ?? Infinity);
                row.push(before === Infinity ? step : distance === "warped" ? step + before : Math.max(step, before));
            });
            above = row;
        }
        return above[points - 1];
    };
    const near = (path) => {
        const away = paths.map((own) => far(path, own));
        return [...away.keys()].sort((a, b) => away[a] - away[b] || a - b);
    };
    const inside = inArea(area);
    return {
        names: "Optimal",
        ratio,
        inside: (value) => {
            const path = inside(value);
            if (!path || path.length > 2 ** 20)
                return;
            const own = path.map((place) => place.map((x, i) => Math.min(Math.max(Math.floor(((x - area.box[i][0]) / sides[i]) * 65536), 0), 65535)));
            return resample(own, points, own.slice(1).map((place, i) => (by === "order" ? 1 : apart(own[i], place))));
        },
        draw: (path, source) => draw(near(paths[near(path)[0]]).slice(0, width), source),
    };
};

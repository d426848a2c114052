/** Places and paths, TraCS and Polar: `Object.assign(draws, paths)` makes the client know the draws `pair`, `walk` and `polar`. */
import { type Fields, type Reader } from "./parts.js";
/** Two coordinates, or a longitude and a latitude. */
export type Place = readonly [number, number];
/** An area: its places, its two coordinates, and how far steps go. */
export interface Area {
    /** Return a place inside: the nearest in each coordinate, or along the radius. */
    clip(place: Place): Place;
    /** Return the two numbers that `pair` reports. */
    axes(place: Place): Place;
    /** Return the length of a step over the distance to the border in its direction. */
    gauge(at: Place, step: Place): number;
    /** The domains of the two numbers, with sorted keys; none without `pair`. */
    lines?: unknown[];
    /** The ends of both sides of the box around it; none of the sphere. */
    box?: readonly [Place, Place];
    /** Of a disk: its radius and its centre. */
    disk?: [radius: number, centre: Place];
}
/** Return a list of two numbers as a pair; refuse any other. */
export declare const pair: (given: unknown[], field: string) => Place;
/** Return the area of a device text. */
export declare function readArea({ domain, outside }: Fields): Area;
/** Return ε·times, rounded up to a double, and the assumptions of a path of this number of locations. */
export declare function spend(epsilon: number, times: number): [epsilon: number, assumes: string[]];
/** Return the function from a path to places inside an area, or undefined for other values. */
export declare const inArea: (area: Pick<Area, "clip">) => (value: unknown) => Place[] | undefined;
/** Return the report of a path: for each location whether a path begins there, and its cells, all equally wide. */
export declare function asPath(rows: Uint8Array[][]): Uint8Array;
export declare const paths: {
    [kind: string]: Reader;
};

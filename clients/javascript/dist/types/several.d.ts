/** SetResponse: sets of items, "select all that apply". `draws.several = several` makes the client know the draw. */
import { type Fields, type Reader, type Source } from "./parts.js";
/** Return a uniform integer below a bound of any size, by rejection. */
export declare function uniform(source: Source, bound: bigint): bigint;
/** Return how many parts, one after the other, end at a place or before it; all are looked at. */
export declare const passed: (place: bigint, parts: bigint[]) => number;
/** Read the list of items and the number that a person reports. A set becomes exactly this number of elements, thinned or with dummies. */
export declare function sets(given: Fields): {
    items: number;
    most: number;
    domain: {
        inside: (value: unknown) => number[] | undefined;
        leftOut: (value: unknown) => number;
    };
    elements: (input: number[], source: Source) => number[];
};
export declare const several: Reader;

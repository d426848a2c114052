/** A question as it travels: read, verified in integers, and ready to be answered. */
import { BITS, expBelow } from "./exact.js";
import { indices, subset, unary } from "./sets.js";
import { digest, Malformed, need, parse, real, utf8, watched } from "./text.js";
import { mixture, response, sliding } from "./windows.js";
/** The draws that the core knows, by kind. Other entry points add further ones here. */
export const draws = {
    // @ts-expect-error: without a prototype, "constructor" is not a kind
    __proto__: null,
    sliding,
    mixture,
    response,
    bits: unary,
    subset,
    indices,
};
/** The entry points of the draws that the core does not know, by kind. */
const ENTRIES = {
    // @ts-expect-error: as above
    __proto__: null,
    sectors: "angles",
    box: "box",
    directions: "vectors",
    routes: "routes",
    hashed: "hashed",
    hadamard: "hashed",
    channel: "tables",
    table: "tables",
    splines: "tables",
    lattice: "lattice",
    nearest: "nearest",
    listing: "nearest",
    optional: "optional",
    pair: "paths",
    polar: "paths",
    walk: "paths",
    projective: "projective",
    questions: "profile",
    several: "several",
    polynomial: "polynomial",
};
/**
 * Read a specification and verify that its integers keep the ε it names. Throw `Malformed` otherwise.
 *
 * An error has the `name` of the question, if it is given, and names the entry point to add if there is one for its mechanism.
 */
export function readQuestion(text, name) {
    try {
        need(text.length < 2 ** 22, "text");
        const document = parse(text);
        const { dither, device, mechanism, parameters, fingerprint } = document;
        need(dither === 2 && "codebook" in document && Object.keys(document).length === 6, "version");
        need(fingerprint === digest(utf8(device)), "fingerprint");
        const [given, finish] = watched(device);
        const kind = given["draw"];
        need(kind === kind + "", "draw"); // a list of one text would be its key, too
        need(typeof draws[kind] === "function", "draw", ENTRIES[kind] && `${mechanism} needs dither-ldp/${ENTRIES[kind]}`);
        const epsilon = real(parameters, "epsilon");
        need(epsilon >= 1e-6 && epsilon <= 50, "epsilon");
        const read = draws[kind](given);
        const { names, ratio, inside, delta } = read;
        need(names.split(" ").includes(mechanism), "draw");
        finish();
        const bound = expBelow(epsilon);
        // This comparison of integers is the proof of privacy. A ratio below 1 is not the largest one: the input would be the least likely.
        need(delta || (ratio[0] > ratio[1] && ratio[0] << BITS <= bound * ratio[1]), "privacy");
        return {
            ...read,
            mechanism,
            kind,
            epsilon,
            delta: delta ? delta(bound, parameters.delta) : 0,
            fingerprint,
            device,
            report(value, source) {
                const input = inside(value);
                return input === undefined ? input : read.draw(input, source);
            },
        };
    }
    catch (error) {
        // An engine's own message may hold the text.
        const { reason, field } = error instanceof Malformed ? error : new Malformed("text");
        throw new Malformed(reason, field, name);
    }
}

/** One script for pages that load no modules, such as those that are opened from disk: everything is in the global object `dither`. */
import * as all from "./all.js";
globalThis.dither = all;

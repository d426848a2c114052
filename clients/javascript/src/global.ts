/** One script for pages that load no modules, such as those that are opened from disk: everything is in the global object `dither`. */

import * as all from "./all.js";

declare global {
  // eslint-disable-next-line no-var
  var dither: typeof all;
}

globalThis.dither = all;

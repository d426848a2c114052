/** What pages load as one script: the client, all its draws, the rules of an account, signed campaigns, requests through a relay, packed batches, sending without a call. */

import { sectors } from "./angles.js";
import { box } from "./box.js";
import { routes } from "./routes.js";
import { directions } from "./vectors.js";
import { hashed } from "./hashed.js";
import { lattice } from "./lattice.js";
import { nearest } from "./nearest.js";
import { optional } from "./optional.js";
import { draws } from "./parts.js";
import { paths } from "./paths.js";
import { profile } from "./profile.js";
import { projective } from "./projective.js";
import { polynomial } from "./polynomial.js";
import { several } from "./several.js";
import { tables } from "./tables.js";

Object.assign(draws, { ...hashed, ...nearest, ...paths, ...profile, ...tables, box, directions, lattice, optional, polynomial, projective, routes, sectors, several }); // every draw of this client

export * from "./index.js";
export { autoSend } from "./auto.js";
export { changes } from "./changes.js";
export { packedBody } from "./packed.js";
export { present, sendPresent } from "./presence.js";
export { encapsulate, relayed } from "./relay.js";
export { allRules } from "./rules.js";
export { fetchCampaign, readCampaign, readList, verify } from "./signatures.js";
export { erase, takeBack, view } from "./view.js";
export { connect, words } from "./elements.js";

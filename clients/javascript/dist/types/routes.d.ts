/** Complete paths, `dt.Routes`: `draws.routes = routes` makes the client know the draw. It loads nearest.js. */
import { type Reader } from "./parts.js";
/** Read the draw: the K public paths nearest to the public path that is next to the own one. */
export declare const routes: Reader;

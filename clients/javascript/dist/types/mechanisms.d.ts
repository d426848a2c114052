/** Which mechanism a question names: a policy may list names, so that a name must be one whose mechanism draws so. */
import { type Question } from "./parts.js";
/** Read a specification as `readQuestion` does; refuse also one that names a mechanism which does not draw so. */
export declare function readNamed(text: string): Question;

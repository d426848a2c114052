/** Which mechanism a question names: a policy may list names, so that a name must be one whose mechanism draws so. */

import { need, type Question, readQuestion } from "./parts.js";

/** The mechanisms of the draws of the core; a draw of another entry point names its own. */
const MECHANISMS: { [kind: string]: string } = {
  sliding: "Podium PM SW OGPM OGPMU Duchi TwoPoint Optimal Focused",
  mixture: "Hybrid",
  response: "KRR RR",
  bits: "OUE SUE",
  subset: "SubsetSelection",
  hadamard: "HadamardResponse",
  hashed: "OLH BLH",
};

/** Read a specification as `readQuestion` does; refuse also one that names a mechanism which does not draw so. */
export function readNamed(text: string): Question {
  const question = readQuestion(text);
  need((question.names ?? MECHANISMS[question.kind])?.split(" ").includes(question.mechanism), "draw");
  return question;
}

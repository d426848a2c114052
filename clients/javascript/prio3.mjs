// Counts cells as two aggregators of DAP do: each report is split, checked and added in shares.
// Reads {"length", "chunk_length", "cells"} from stdin; writes the counts, and the bytes of a report's shares.
import { randomBytes } from "node:crypto";
import { Prio3Histogram } from "@divviup/prio3";

let text = "";
for await (const part of process.stdin) text += part;
const { length, chunk_length: chunkLength, cells } = JSON.parse(text);
const vdaf = new Prio3Histogram({ shares: 2, length, chunkLength });
const counts = await vdaf.test(null, cells);
const shares = await vdaf.shardEncoded(cells[0], randomBytes(vdaf.nonceSize), randomBytes(vdaf.randSize));
const bytes = [shares.publicShare, ...shares.inputShares].reduce((sum, share) => sum + share.length, 0);
process.stdout.write(JSON.stringify({ counts, bytes }));

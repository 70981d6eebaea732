import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { documentAt } from "../support/ingest.ts";
import { pdf, uploadPath } from "../support/pdf.ts";
import { DEADLINE_MS, unlessCut } from "./server.ts";
import { checkRows, rowsPath } from "./soak-exports.ts";
import { count, nodesOf, type Soak } from "./soak-state.ts";

const FILE_BYTES = 16 * 1024;
const fileOf = (number: number): Uint8Array<ArrayBuffer> => pdf(`file ${number}`, FILE_BYTES);

/** Sends a request with the export key to any node; undefined if the answer was cut. */
const ask = (soak: Soak, path: string, init: Pick<RequestInit, "method" | "body"> = {}) => {
  const url = new URL(path, soak.dice.pick(nodesOf(soak)).url);
  const headers = { "X-API-Key": soak.cluster.apiKey, "Content-Type": "application/pdf" };
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const answer = async () => {
    const reply = await fetch(url, { ...init, headers, signal });
    return { status: reply.status, bytes: Buffer.from(await reply.arrayBuffer()) };
  };
  return unlessCut(answer());
};

/** Uploads files to S3; those that were acknowledged must be there at the end. */
export const upload = async (soak: Soak, isOver: () => boolean): Promise<void> => {
  while (!isOver()) {
    soak.sentFiles += 1;
    const number = soak.sentFiles;
    const path = `${uploadPath(soak.connectionId, "SOAKED")}?append=true`;
    const reply = await ask(soak, path, { method: "POST", body: fileOf(number) });
    if (reply?.status === 200) {
      const { id } = JSON.parse(reply.bytes.toString()) as { id: string };
      soak.uploads.set(id, number);
    } else if (reply !== undefined && reply.status !== 503) {
      throw new Error(`an upload was answered with ${reply.status} ${reply.bytes.toString()}`);
    } else count(soak, "refused uploads");
    await pause(300);
  }
};

export type ReadOutcome = "whole" | "cut" | "refused";

/** Reads what is on S3. An answer that ends by itself is whole, so `check` gets it. */
const readWhole = async (
  soak: Soak,
  path: string,
  check: (bytes: Buffer) => void,
): Promise<ReadOutcome> => {
  const reply = await ask(soak, path);
  if (reply === undefined) return "cut";
  if (reply.status === 503) return "refused";
  expect([reply.status, path]).toEqual([200, path]);
  check(reply.bytes);
  return "whole";
};

export const readFile = (soak: Soak, id: string): Promise<ReadOutcome> =>
  readWhole(soak, `${documentAt("SOAKED")}/attachments/${id}`, (bytes) => {
    const sent = fileOf(soak.uploads.get(id) ?? -1);
    expect([bytes.length, bytes.equals(sent)]).toEqual([sent.length, true]);
  });

const NAMES = { whole: "reads", cut: "cut reads", refused: "refused reads" } as const;

/** Reads acknowledged files and rows of completed runs, in turn. */
export const read = async (soak: Soak, isOver: () => boolean): Promise<void> => {
  while (!isOver()) {
    if (soak.uploads.size > 0) {
      const id = soak.dice.pick([...soak.uploads.keys()]);
      count(soak, NAMES[await readFile(soak, id)]);
    }
    if (soak.runs.length > 0) {
      const run = soak.dice.pick(soak.runs);
      const outcome = await readWhole(soak, rowsPath(run), (bytes) => {
        const { data } = JSON.parse(bytes.toString()) as { data: { id: string }[] };
        checkRows(run, data, soak.schedules);
      });
      count(soak, `${NAMES[outcome]} of rows`);
    }
    await pause(100);
  }
};

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { closeDuplicate, explain, reassign } from "./demo/act.ts";
import { readApplication } from "./demo/credit.ts";
import { connected, listOpen, pick, readConfiguration, readGuide, type Work } from "./demo/look.ts";
import { readPapers } from "./demo/papers.ts";
import { checkAudit, compare } from "./demo/prove.ts";
import { openSession } from "./demo/session.ts";
import { machine, readable, type Transcript } from "./demo/transcript.ts";

const triage = async (work: Work): Promise<void> => {
  connected(work);
  await readGuide(work);
  const known = await readConfiguration(work);
  const open = await listOpen(work);
  const picks = pick(work, open, known);
  await readPapers(work, picks, open);
  const moves = await reassign(work, picks, open, known);
  await explain(work, moves);
  await closeDuplicate(work, picks.pairs[0], known);
  await compare(work, { open, picks }, known);
  await readApplication(work);
  await checkAudit(work);
};

/** One whole session on a data folder of its own, which is gone afterwards. */
const run = async (out: Transcript): Promise<void> => {
  const dataFolder = await mkdtemp(join(tmpdir(), "receivables-demo-"));
  try {
    const session = await openSession({ dataFolder, out, confirm: () => true });
    try {
      await triage({ session, out, now: Date.now() });
    } finally {
      await session.close();
    }
  } finally {
    await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
  }
};

const print = (text: string): void => {
  process.stdout.write(text);
};

const forMachines = process.argv.includes("--json");
const out = forMachines
  ? machine(print)
  : readable(print, process.stdout.isTTY && process.env["NO_COLOR"] === undefined);

if (!forMachines) {
  print(
    "A demo session: a scripted MCP client triages the open disputes of Demo Manufacturing Inc.\n" +
      "No model is involved; everything shown comes from the server's answers.\n",
  );
}

try {
  await run(out);
  if (forMachines) print(`${JSON.stringify({ step: "done", ok: true })}\n`);
  else print("\nDone. The data folder of this session is removed.\n");
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  if (forMachines) print(`${JSON.stringify({ step: "failed", ok: false, message })}\n`);
  process.stderr.write(`The demo failed: ${message}\n`);
  process.exitCode = 1;
}

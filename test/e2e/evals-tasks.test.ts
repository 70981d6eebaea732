import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRecordedPlayer } from "../../evals/run/recorded.ts";
import { startServer, type TestedServer } from "../../evals/run/server.ts";
import type { Call, Outcome, State, Task, Transcript } from "../../evals/task.ts";
import { figures } from "../../evals/tasks/grading.ts";
import { createTasks } from "../../evals/tasks/index.ts";
import {
  createApi,
  loadWorld,
  makeWorld,
  openWorld,
  readState,
  type World,
} from "../../evals/world/index.ts";
import { STATUSES } from "../../evals/world/records.ts";
import { COUNTS } from "../../evals/world/generate.ts";
import { useFolder } from "../support/folder.ts";
import { verifies } from "../support/verifies.ts";

/** Questions whose figures are sums of what the platform returns. */
const SEVERAL_RESULTS = new Set(["valid-or-not", "owed-in-two-currencies", "paid-in-the-portal"]);

const READS = /_(?:list|get|query|summary|summarize|triage|without_dispute)$/;
const isChanging = ({ calls }: Transcript): boolean => calls.some(({ name }) => !READS.test(name));

const folder = useFolder();
let world: World;
let tasks: readonly Task[];
let server: TestedServer;
let api: ReturnType<typeof createApi>;
let platform: Awaited<ReturnType<typeof openWorld>>;
let now: State;
/** The results of the last transcript that was played. */
let shown = "";

beforeAll(async () => {
  world = makeWorld({ day: new Date().toISOString().slice(0, 10) });
  tasks = createTasks(world);
  const loaded = await loadWorld(world, folder);
  platform = await openWorld(folder);
  api = createApi(async (request) => platform.fetch(request), loaded.reader);
  server = await startServer(loaded.analyst, "full");
  now = await readState(api);
}, 120_000);
afterAll(async () => {
  await server?.close();
  await platform?.close();
});

/** Plays a transcript on the server; later ones find what it changed. */
const play = async (task: Task, transcript: Transcript): Promise<Outcome> => {
  const calls: Call[] = [];
  shown = "";
  const { signal } = new AbortController();
  const answer = await createRecordedPlayer(transcript)({
    task: task.name,
    prompt: task.prompt,
    instructions: "",
    tools: [],
    signal,
    addTokens() {},
    async call(name, args) {
      const result = await server.call(name, args, signal);
      shown += result.text;
      calls.push({ name, arguments: args, isError: result.isError });
      if (result.isError) throw new Error(`${task.name}: ${name}: ${result.text}`);
      return result;
    },
  });
  const before = now;
  if (isChanging(transcript)) now = await readState(api);
  return { answer, calls, before, after: now };
};

describe("the world of the benchmark", () => {
  it("is the same for the same day, and of the size that is promised", () => {
    const { accounts, documents, disputes, payments } = world.records;
    expect({
      accounts: accounts.length,
      documents: documents.length,
      disputes: disputes.length,
      payments: payments.length,
    }).toEqual(COUNTS);
    expect(makeWorld({ day: world.day }).files).toEqual(world.files);
  });

  it("lost nothing on its way into the store", async () => {
    const { disputes, documents, payments } = world.records;
    for (const [status, name] of STATUSES.entries()) {
      const stored = [...now.disputes.values()].filter((one) => one["status"] === status);
      expect(stored.length, name).toBe(disputes.filter((one) => one.status === name).length);
    }
    for (const one of disputes) {
      expect(now.disputes.get(one.code), one.code).toMatchObject({
        accountNumber: one.account,
        amount: one.amount / 100,
        currencyCode: one.currency,
      });
    }
    for (const one of documents.filter(({ number }) => number.startsWith("69"))) {
      expect(now.documents.get(one.number)).toMatchObject({ denomination: one.balance / 100 });
    }
    const { count } = await platform.store.read
      .selectFrom("cashapp_payments")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    const cash = payments.filter((one) => one.source === "cashapp");
    expect(count).toBe(cash.length);
  });
});

describe("figures of an answer", () => {
  it("reads figures in any usual spelling, and no digits of records and days", () => {
    expect(figures("1,234.50 or 1234.5, 1.234,50 €, 1 234,50 and 1'234.50")).toEqual([
      1234.5, 1234.5, 1234.5, 1234.5, 1234.5,
    ]);
    expect(figures("12,000 of 1,234,567.89; 7 in all.")).toEqual([12_000, 1_234_567.89, 7]);
    expect(figures("D-6900101-01 of K-20001 on 2026-11-27, PO-77120, 6900121")).toEqual([]);
  });
});

describe("the tasks of the benchmark", () => {
  it("are forty or more of four kinds, each with two wrong variations", () => {
    const count = (kind: Task["kind"]): number => tasks.filter((one) => one.kind === kind).length;
    expect(tasks.length).toBeGreaterThanOrEqual(40);
    expect(count("question")).toBeGreaterThanOrEqual(14);
    expect(count("judgement")).toBeGreaterThanOrEqual(8);
    expect(count("change")).toBeGreaterThanOrEqual(12);
    expect(count("refusal")).toBeGreaterThanOrEqual(6);
    expect(new Set(tasks.map(({ name }) => name)).size).toBe(tasks.length);
    for (const { name, wrong } of tasks) expect(wrong.length, name).toBeGreaterThanOrEqual(2);
  });

  it.each(["2026-03-01", "2027-01-15"])("are right on %s too", (day) => {
    const nothing = Object.fromEntries(Object.keys(now).map((table) => [table, new Map()]));
    const state = nothing as unknown as State;
    for (const { name, kind, grade, right, wrong } of createTasks(makeWorld({ day }))) {
      if (kind === "change") continue;
      const gradeAnswer = ({ answer }: Transcript) =>
        grade({ answer, calls: [], before: state, after: state });
      expect(gradeAnswer(right), name).toEqual([]);
      for (const one of wrong.filter((transcript) => !isChanging(transcript))) {
        expect(gradeAnswer(one), name).not.toEqual([]);
      }
    }
  });

  // Each task has records of its own, so that what others changed does not matter to it. Those that only ask come first.
  verifies("RC-40");
  it("pass when they are played rightly on the server, and fail when not", async () => {
    for (const task of tasks) {
      for (const [place, transcript] of task.wrong.entries()) {
        const isPlayed = isChanging(transcript);
        const outcome = isPlayed
          ? await play(task, transcript)
          : { answer: transcript.answer, calls: [], before: now, after: now };
        expect.soft(task.grade(outcome), `${task.name}, wrong ${place}`).not.toEqual([]);
      }
      expect.soft(task.grade(await play(task, task.right)), task.name).toEqual([]);
      if (task.kind !== "question" || SEVERAL_RESULTS.has(task.name)) continue;
      const returned = new Set(figures(shown));
      const lacking = figures(task.right.answer).filter((one) => !returned.has(one));
      expect.soft(lacking, `${task.name}: the platform has other figures`).toEqual([]);
    }
  }, 120_000);
});

import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { getMessage } from "../../src/kit/error.ts";
import type { Call, Kind, State, Task } from "../task.ts";
import { createApi, type LoadedWorld, loadWorld, openWorld, readState } from "../world/index.ts";
import type { World } from "../world/index.ts";
import type { Player } from "./player.ts";
import { type Mode, startServer, type TestedServer } from "./server.ts";

const MAX_CALLS = 60;

export type PlayedCall = Call & { result: string };

/** A line of the report. `errors` counts calls that the server refused. */
export type Result = {
  task: string;
  kind: Kind;
  passed: boolean;
  calls: number;
  tokens: number;
  errors: number;
  transcript: { calls: PlayedCall[]; answer: string; faults: readonly string[] };
};

export type Benchmark = {
  /** Plays a task from the same state as every other one. */
  play(task: Task, player: Player, seconds: number): Promise<Result>;
  close(): Promise<void>;
};

const plain = { disallowedSpecial: new Set<string>() };

/** A copy of the loaded data folder with a server on it; made again when a task has changed it. */
const openCopy = async (pristine: string, loaded: LoadedWorld, mode: Mode) => {
  const folder = await mkdtemp(join(tmpdir(), "receivables-evals-"));
  await cp(pristine, folder, { recursive: true });
  const platform = await openWorld(folder);
  const server = await startServer({ ...loaded.analyst, RECEIVABLES_DATA: folder }, mode);
  const api = createApi(async (request) => platform.fetch(request), loaded.reader);
  return {
    server,
    read: () => readState(api),
    async close() {
      await server.close();
      await platform.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

type Played = { answer: string; calls: PlayedCall[]; tokens: number; faults: string[] };

const playOn = async (
  server: TestedServer,
  task: Task,
  { player, seconds }: { player: Player; seconds: number },
): Promise<Played> => {
  const calls: PlayedCall[] = [];
  let reported = 0;
  const signal = AbortSignal.timeout(seconds * 1000);
  const { tools, instructions } = server;
  const faults = new Set<string>();
  const seat = {
    task: task.name,
    prompt: task.prompt,
    instructions,
    tools,
    signal,
    async call(name: string, args: Record<string, unknown>) {
      if (calls.length >= MAX_CALLS) {
        const fault = `More than ${MAX_CALLS} calls.`;
        // A player can answer in spite of the error.
        faults.add(fault);
        throw new Error(fault);
      }
      const result = await server.call(name, args, signal);
      calls.push({ name, arguments: args, isError: result.isError, result: result.text });
      return result;
    },
    addTokens(count: number) {
      reported += count;
    },
  };
  const answer = await player(seat).catch((error: unknown) => {
    faults.add(signal.aborted ? `No answer within ${seconds} seconds.` : getMessage(error));
    return "";
  });
  const counted = [JSON.stringify(tools), ...calls.map(({ result }) => result)]
    .map((text) => countTokens(text, plain))
    .reduce((sum, count) => sum + count, 0);
  return { answer, calls, tokens: reported === 0 ? counted : reported, faults: [...faults] };
};

const grade = (task: Task, { faults, answer, calls }: Played, states: [State, State]) => {
  if (faults.length > 0) return faults;
  const [before, after] = states;
  return task.grade({ answer, calls, before, after });
};

/** Loads a world once and plays tasks on copies of it. */
export const openBenchmark = async (world: World, mode: Mode): Promise<Benchmark> => {
  const pristine = await mkdtemp(join(tmpdir(), "receivables-evals-world-"));
  const loaded = await loadWorld(world, pristine);
  let copy = await openCopy(pristine, loaded, mode);
  const before = await copy.read();
  const renew = async (): Promise<void> => {
    await copy.close();
    copy = await openCopy(pristine, loaded, mode);
  };
  return {
    async play(task, player, seconds) {
      const played = await playOn(copy.server, task, { player, seconds });
      const after = await copy.read();
      const faults = grade(task, played, [before, after]);
      if (played.faults.length > 0 || !isDeepStrictEqual(before, after)) await renew();
      const { calls, answer, tokens } = played;
      return {
        task: task.name,
        kind: task.kind,
        passed: faults.length === 0,
        calls: calls.length,
        tokens,
        errors: calls.filter((call) => call.isError).length,
        transcript: { calls, answer, faults },
      };
    },
    async close() {
      await copy.close();
      await rm(pristine, { recursive: true, force: true, maxRetries: 5 });
    },
  };
};

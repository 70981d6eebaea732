import { spawn } from "node:child_process";
import { once } from "node:events";
import { z } from "zod";
import type { Player, Seat } from "./player.ts";

/** Characters of one line from a program, and of all its output to one task. */
const MAX_LINE = 1024 * 1024;
const MAX_OUTPUT = 16 * MAX_LINE;

const END_MS = 1000;

const Line = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("call"),
    id: z.union([z.string(), z.number()]),
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).default({}),
  }),
  z.object({ type: z.literal("answer"), text: z.string() }),
]);

const parseLine = (text: string): z.infer<typeof Line> => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`The program wrote a line that is not JSON: ${text.slice(0, 100)}`);
  }
  const { data } = Line.safeParse(value);
  if (data === undefined) {
    throw new Error(`The program wrote neither a call nor an answer: ${text.slice(0, 100)}`);
  }
  return data;
};

/** Yields complete lines. @throws {Error} if a line or the whole output is too long */
async function* readLines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let [rest, total] = ["", 0];
  for await (const chunk of chunks) {
    total += chunk.length;
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    if (total > MAX_OUTPUT || rest.length > MAX_LINE) {
      throw new Error("The program wrote more than is allowed.");
    }
    for (const line of lines) if (line.trim() !== "") yield line;
  }
}

const start = (command: string) => {
  const [program = "", ...args] = command.split(" ").filter((word) => word !== "");
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  child.stdout.setEncoding("utf8");
  // A program that has ended does not read its input; the end of its output says so.
  child.stdin.on("error", () => {});
  return child;
};

type Child = ReturnType<typeof start>;

const converse = async (child: Child, { task, prompt, tools, call }: Seat): Promise<string> => {
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  send({ type: "task", task, prompt, tools });
  for await (const text of readLines(child.stdout)) {
    const line = parseLine(text);
    if (line.type === "answer") {
      send({ type: "end" });
      return line.text;
    }
    send({ type: "result", id: line.id, result: await call(line.name, line.arguments) });
  }
  throw new Error("The program ended without an answer.");
};

/** Ends a program: it has a second to do so by itself. */
const stop = async (child: Child): Promise<void> => {
  child.stdin.end();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill("SIGKILL"), END_MS);
  child.stdout.resume();
  await once(child, "exit");
  clearTimeout(timer);
};

/** Creates a player that is a program, started for each task, which speaks JSON lines. */
export const createCommandPlayer =
  (command: string): Player =>
  async (seat) => {
    const child = start(command);
    const failed = new Promise<never>((_resolve, reject) => {
      child.on("error", (error) => reject(new Error(`The program cannot run: ${error.message}`)));
      seat.signal.addEventListener("abort", () => reject(new Error("The time is over.")));
    });
    try {
      return await Promise.race([converse(child, seat), failed]);
    } finally {
      await stop(child);
    }
  };

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** Starts a server in a process of its own. It ends when its input does. */
export const startServer = async (args: readonly string[]) => {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const readLine = async (): Promise<string> => String((await lines.next()).value);
  return {
    /** The object that {@link announce} wrote. */
    said: JSON.parse(await readLine()) as unknown,
    /** Sends an empty line, and returns the line that the server responds with. */
    ask(): Promise<string> {
      child.stdin.write("\n");
      return readLine();
    },
    async stop(): Promise<void> {
      child.stdin.end();
      await once(child, "close");
    },
  };
};

/** Runs something against a server in a process of its own, whose announcement has the form that `act` takes. */
export const withServer = async <Result>(
  args: readonly string[],
  act: (said: never) => Promise<Result>,
): Promise<Result> => {
  const { said, stop } = await startServer(args);
  try {
    return await act(said as never);
  } finally {
    await stop();
  }
};

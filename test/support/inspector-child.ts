/** The official inspector's command line, run again and again in one process: starting it costs a second each time. */
import { join } from "node:path";

const CLI = "../../node_modules/@modelcontextprotocol/inspector/clients/cli/build/index.js";
const { runCli } = (await import(join(import.meta.dirname, CLI))) as {
  runCli: (argv: string[]) => Promise<void>;
};

process.on("message", (args: string[]) => {
  runCli([process.execPath, "mcp-inspector", ...args]).then(
    () => process.send?.({ status: "done" }),
    (error: unknown) => process.send?.({ status: String(error) }),
  );
});
process.send?.({ status: "ready" });

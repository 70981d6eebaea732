/** Runs the official inspector's command line many times in one process, because each start takes a second. */
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

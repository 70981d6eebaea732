import { startStdio } from "../../src/mcp/stdio/stdio.ts";
import { createOptions } from "./hosts.ts";
import { scriptBroker } from "./script.ts";

/** A server over this process's stdin and stdout; its calls never end. */
const needs = await createOptions(scriptBroker({ "departments.get": () => new Promise(() => {}) }));
const server = startStdio(needs);
process.on("SIGTERM", () => {
  void server.close();
});
const busy = setInterval(() => {}, 1000);
await server.closed;
clearInterval(busy);

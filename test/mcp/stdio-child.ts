import { startStdio } from "../../src/mcp/stdio/stdio.ts";
import { needsOf } from "./hosts.ts";
import { scripted } from "./script.ts";

/** A server over this process's stdin and stdout; its calls never end. */
const needs = await needsOf(scripted({ "departments.get": () => new Promise(() => {}) }));
const server = startStdio(needs);
process.on("SIGTERM", () => {
  void server.close();
});
const busy = setInterval(() => {}, 1000);
await server.closed;
clearInterval(busy);

import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { findAdvice } from "../../src/bin/cli/advice.ts";
import { Problem } from "../../src/contract/errors.ts";
import { serve } from "../../src/server/serve.ts";
import { StoreUnavailable } from "../../src/platform/store/port.ts";
import { listen } from "../support/listen.ts";

const faultOf = (code: string): Error => Object.assign(new Error("mkdir"), { code });

const listenFault = (address: { port: number; host: string }): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen(address, () => {
      server.close();
      reject(new Error("It listens."));
    });
  });

describe("hints about faults", () => {
  it("suggest another port or another address", async () => {
    const holder = createServer();
    const port = await listen(holder);
    const advice = findAdvice(await listenFault({ port, host: "127.0.0.1" }));
    expect(advice).toContain("--port");
    expect(advice).toContain("RECEIVABLES_METRICS_ADDRESS");
    expect(findAdvice(await listenFault({ port: 0, host: "192.0.2.1" }))).toContain("--host");
    const unknown = serve(() => {}, { port: 0, host: "nowhere.invalid" });
    await expect(unknown.catch(findAdvice)).resolves.toContain("--host");
    await new Promise((resolve) => holder.close(resolve));
  });

  it("refer to the data folder, the store or the doctor", () => {
    expect(findAdvice(faultOf("EROFS"))).toContain("RECEIVABLES_DATA");
    expect(findAdvice(new StoreUnavailable(faultOf("EACCES")))).toContain("DATABASE_URL");
    expect(findAdvice(new Problem("unavailable", "It is away."))).toContain("doctor");
    expect(findAdvice(new Error("database or disk is full"))).toContain("Make room");
    const refused = Object.assign(faultOf("ECONNREFUSED"), { syscall: "connect" });
    const unknown = Object.assign(faultOf("3D000"), { severity: "FATAL" });
    for (const fault of [refused, unknown]) expect(findAdvice(fault)).toContain("DATABASE_URL");
  });

  it("are absent if the message says enough", () => {
    expect(findAdvice(new Problem("not_found", "There is none."))).toBeUndefined();
    expect(findAdvice(faultOf("EWHATEVER"))).toBeUndefined();
    const refused = Object.assign(faultOf("23505"), { severity: "ERROR" });
    expect(findAdvice(refused)).toBeUndefined();
    expect(findAdvice("a text")).toBeUndefined();
  });
});

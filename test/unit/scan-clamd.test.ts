import { rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { builtInScanner } from "../../src/platform/scan/built-in.ts";
import { type ClamdTimes, createClamdScanner } from "../../src/platform/clamd/clamd.ts";
import type { ScannedFile } from "../../src/platform/scan/port.ts";
import { createScanner } from "../../src/platform/clamd/scanner.ts";
import { clamdProgram, MARKER, type RunningClamd, startClamd } from "../support/clamd.ts";
import { listen } from "../support/listen.ts";
import { GOOD, goodUploads } from "../support/uploads.ts";
import { EICAR } from "../support/uploads/eicar.ts";
import { docx, text } from "../support/uploads/samples.ts";
import { zip } from "../support/uploads/zip.ts";
import { verifies } from "../support/verifies.ts";

const MIB = 1024 * 1024;

const file = (fileName: string, bytes: Buffer): ScannedFile => ({
  fileName,
  size: bytes.byteLength,
  open: () => Promise.resolve(new Blob([Uint8Array.from(bytes)]).stream()),
});

const note = file("note.txt", text());

type Fake = { port: number; received: Buffer[] };

const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server that handles each connection with the given function. */
const fake = async (serve: (socket: Socket, received: Buffer[]) => void): Promise<Fake> => {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    serve(socket, received);
  });
  servers.push(server);
  return { port: await listen(server), received };
};

const END = Buffer.alloc(4);

/** Answers after the last frame. */
const answering = (answer: string) =>
  fake((socket, received) => {
    socket.on("data", (chunk) => {
      received.push(chunk);
      if (Buffer.concat(received).subarray(-4).equals(END)) socket.end(answer, "latin1");
    });
  });

const asking = ({ port }: { port: number }, times: Partial<ClamdTimes> = {}) =>
  createClamdScanner({ address: { host: "127.0.0.1", port }, before: builtInScanner, times });

/** Returns the file's bytes without their frames. */
const unframed = (sent: Buffer): Buffer => {
  const command = "zINSTREAM\0";
  expect(sent.subarray(0, command.length).toString()).toBe(command);
  const pieces: Buffer[] = [];
  for (let at = command.length; ;) {
    const length = sent.readUInt32BE(at);
    if (length === 0) {
      expect(sent.byteLength).toBe(at + 4);
      return Buffer.concat(pieces);
    }
    pieces.push(sent.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
};

const infectedBy = (name: string) => ({
  status: "Infected",
  failureReasons: [{ code: "MALWARE_DETECTED", message: `The file holds malware: ${name}.` }],
});

describe("clamd scanner with a simulated clamd", () => {
  it("sends the whole file in frames", async () => {
    const long = text("x".repeat(3 * MIB));
    const clamd = await answering("stream: OK\0");
    expect(await asking(clamd).scan(file("long.txt", long))).toEqual({
      status: "Available",
      warnings: [],
    });
    expect(unframed(Buffer.concat(clamd.received)).equals(long)).toBe(true);
  });

  verifies("C-47");
  it("reports a signature's name in printable ASCII", async () => {
    const names: [string, string][] = [
      ["Win.Test.EICAR_HDB-1", "Win.Test.EICAR_HDB-1"],
      ["Eicar-Signature(44d88612fea8a8f36de82e1278abb02f:68)", "Eicar-Signature"],
      ["<script>\x1b[31m\xe2", "_script___31m_"],
      ["n".repeat(500), "n".repeat(100)],
    ];
    for (const [name, shown] of names) {
      const clamd = await answering(`stream: ${name} FOUND\0`);
      expect(await asking(clamd).scan(note)).toEqual(infectedBy(shown));
    }
  });

  it("accepts an answer that arrives byte by byte", async () => {
    const clamd = await fake((socket) => {
      socket.on("data", (chunk) => {
        if (!chunk.subarray(-4).equals(END)) return;
        const rest = "stream: Slow.Test FOUND\0".split("");
        const next = () => {
          const mark = rest.shift();
          if (mark !== undefined) socket.write(mark, () => setImmediate(next));
        };
        next();
      });
    });
    expect(await asking(clamd).scan(note)).toEqual(infectedBy("Slow.Test"));
  });

  it("reports TOO_LARGE when clamd answers so during the upload", async () => {
    const clamd = await fake((socket) => {
      let count = 0;
      socket.on("data", (chunk) => {
        count += chunk.byteLength;
        if (count > MIB) socket.write("INSTREAM size limit exceeded. ERROR\0");
      });
    });
    expect(await asking(clamd).scan(file("long.txt", text("x".repeat(8 * MIB))))).toMatchObject({
      status: "Rejected",
      failureReasons: [{ code: "TOO_LARGE" }],
    });
  });

  verifies("C-47");
  it.each([
    [
      "stream: Can't allocate memory ERROR\0",
      "clamd answered: stream: Can't allocate memory ERROR",
    ],
    ["UNKNOWN COMMAND\0", "clamd answered: UNKNOWN COMMAND"],
    ["\x1b[2J\0", "clamd answered: ?[2J"],
    ["stream: OK", "ended the connection without an answer"],
    ["", "ended the connection without an answer"],
    ["x".repeat(9000), "answered too much"],
  ])("throws when clamd answers %j", async (answer, message) => {
    const clamd = await answering(answer);
    await expect(asking(clamd).scan(note)).rejects.toThrow(message);
  });

  it("throws when the connection is reset during the upload", async () => {
    const clamd = await fake((socket) => socket.once("data", () => socket.resetAndDestroy()));
    await expect(asking(clamd).scan(file("a.txt", text("x".repeat(8 * MIB))))).rejects.toThrow(
      /clamd (closed|ended)/,
    );
  });

  it("throws when clamd does not answer in time", async () => {
    const clamd = await fake((socket) => socket.resume());
    const scan = asking(clamd, { answerMs: 50 }).scan(note);
    await expect(scan).rejects.toThrow("clamd took too long to answer");
  });

  it("throws when clamd stops reading the file", async () => {
    const clamd = await fake((socket) => socket.pause());
    const scan = asking(clamd, { stallMs: 50 }).scan(file("a.txt", text("x".repeat(30 * MIB))));
    await expect(scan).rejects.toThrow("clamd took too long to take the file");
  });

  it("throws when the connection is refused", async () => {
    const { port } = await fake(() => {});
    const [server] = servers.splice(0);
    server?.close();
    await expect(asking({ port }).scan(note)).rejects.toThrow("ECONNREFUSED");
  });

  it("throws when the file cannot be read to its end", async () => {
    const clamd = await answering("stream: OK\0");
    let times = 0;
    const open = async () => {
      times += 1;
      if (times === 1) return note.open();
      return new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(Buffer.from("Deliv")),
        pull: (controller) => controller.error(new Error("disk failure")),
      });
    };
    await expect(asking(clamd).scan({ ...note, open })).rejects.toThrow("disk failure");
  });

  it("does not send files that the built-in scanner refused", async () => {
    const clamd = await answering("stream: OK\0");
    expect(await asking(clamd).scan(file("a.txt", Buffer.from(EICAR)))).toMatchObject({
      status: "Infected",
    });
    expect(await asking(clamd).scan(file("a.exe", text()))).toMatchObject({ status: "Rejected" });
    expect(clamd.received).toEqual([]);
  });
});

describe("RECEIVABLES_SCANNER", () => {
  it.each([
    "",
    "clamd",
    "clamd:",
    "clamd:relative",
    "clamd://",
    "clamd://host:0",
    "clamd://host:65536",
    "clamd://host:1/x",
    "clamd://user@host",
    "http://host",
  ])("refuses %j", (setting) => {
    expect(() => createScanner(setting)).toThrow("clamd://host:port");
  });

  it("accepts a port, the default port, a numeric address and a socket", () => {
    for (const setting of [
      "clamd://h:1",
      "clamd://clamd.internal",
      "clamd://[::1]:3310",
      "clamd:/run/x",
    ]) {
      expect(() => createScanner(setting)).not.toThrow();
    }
  });

  it("uses the built-in scanner alone when it is unset", async () => {
    expect(await createScanner().scan(note)).toEqual({ status: "Available", warnings: [] });
    expect(await createScanner().scan(file("a.txt", Buffer.from(EICAR)))).toMatchObject({
      status: "Infected",
    });
  });
});

describe.skipIf(clamdProgram === undefined)(
  "a real clamd (skipped where there is no clamd)",
  () => {
    let clamd: RunningClamd;
    beforeAll(async () => {
      clamd = await startClamd(String(clamdProgram));
    });
    afterAll(() => clamd.stop());

    const marked: [string, Buffer][] = [
      ["a.txt", text(MARKER)],
      ["a.zip", zip([{ name: "a.txt", data: text(MARKER) }])],
      ["a.docx", docx([{ name: "word/a.xml", data: `<a>${MARKER}</a>` }])],
    ];

    it.each(marked)("finds a signature over TCP in %s", async (name, bytes) => {
      expect(await builtInScanner.scan(file(name, bytes))).toEqual({
        status: "Available",
        warnings: [],
      });
      const scanner = createScanner(`clamd://127.0.0.1:${clamd.port}`);
      expect(await scanner.scan(file(name, bytes))).toEqual(infectedBy("Test.Marker.UNOFFICIAL"));
    });

    it("finds a signature over a Unix socket", async () => {
      const scanner = createScanner(`clamd:${clamd.socketPath}`);
      expect(await scanner.scan(file("a.txt", text(MARKER)))).toEqual(
        infectedBy("Test.Marker.UNOFFICIAL"),
      );
    });

    it("accepts every allowed type, and a large file", async () => {
      const scanner = createScanner(`clamd://localhost:${clamd.port}`);
      const large = { title: "", fileName: "large.txt", bytes: text("x ".repeat(20 * MIB)) };
      for (const { fileName, bytes } of [...goodUploads, large]) {
        expect(await scanner.scan(file(fileName, bytes)), fileName).toMatchObject({
          status: "Available",
        });
      }
    });

    it("scans many files concurrently", async () => {
      const scanner = createScanner(`clamd:${clamd.socketPath}`);
      const scans = Array.from({ length: 20 }, (_, at) =>
        scanner.scan(at % 2 === 0 ? note : file("a.txt", text(MARKER))),
      );
      const statuses = (await Promise.all(scans)).map(({ status }) => status);
      expect(statuses).toEqual(scans.map((_, at) => (at % 2 === 0 ? "Available" : "Infected")));
    });
  },
);

describe("clamd scanner without a socket", () => {
  it("throws", async () => {
    const path = join(tmpdir(), "no-such-clamd-socket");
    rmSync(path, { force: true });
    await expect(createScanner(`clamd:${path}`).scan(file("a.pdf", GOOD[".pdf"]))).rejects.toThrow(
      "ENOENT",
    );
  });
});

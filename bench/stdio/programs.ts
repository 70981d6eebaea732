import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { bundle } from "../../scripts/build/bundle.ts";
import { inFolder } from "../folder.ts";
import { type Command, greet, resultIn, startHost } from "./host.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The built program and what it is compared with, in a folder that goes away with them. */
export type Programs = {
  folder: string;
  /** The server; further settings by name. */
  ours(settings?: Record<string, string>): Command;
  /** The same from its sources. */
  sources(): Command;
  /** A program of `peers`, with a file that holds what it answers. */
  peer(name: "loop" | "tool", answer: unknown): Promise<Command>;
};

const bare = (folder: string): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "",
  HOME: folder,
});

const buildPeers = (folder: string): Promise<unknown> =>
  build({
    absWorkingDir: ROOT,
    entryPoints: ["bench/peers/loop.ts", "bench/peers/tool.ts"],
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node24",
    logLevel: "warning",
  });

const make = async (folder: string): Promise<Programs> => {
  await bundle(join(folder, "dist"));
  // As in the package: without it Node reads each file to find out what it is.
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  await buildPeers(folder);
  const program = (path: string, settings: Record<string, string> = {}): Command => ({
    args: [path],
    env: {
      ...bare(folder),
      RECEIVABLES_DATA: join(folder, "data"),
      RECEIVABLES_LOG: "silent",
      ...settings,
    },
  });
  return {
    folder,
    ours: (settings) => program(join(folder, "dist", "cli.js"), settings),
    sources: () => program(join(ROOT, "src/bin/cli.ts")),
    async peer(name, answer) {
      const file = join(folder, `${name}.json`);
      await writeFile(file, JSON.stringify(answer));
      return { args: [join(folder, `${name}.mjs`), file], env: bare(folder) };
    },
  };
};

/** Builds the programs, has them measured, and leaves nothing behind. */
export const withPrograms = <T>(measure: (programs: Programs) => Promise<T>): Promise<T> =>
  inFolder(async (folder) => measure(await make(folder)));

/** The tools that a program lists. */
export const listOf = async (command: Command): Promise<unknown> => {
  const host = startHost(command);
  await greet(host);
  const { tools } = resultIn(await host.request("tools/list"));
  await host.end();
  return tools;
};

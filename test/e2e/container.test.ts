import { execFile, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { ROOT } from "../support/sources.ts";
import { verifies } from "../support/verifies.ts";

const run = promisify(execFile);
/** A user without rights, as the image's own. */
const UNPRIVILEGED_UID = 65_534;
const IS_ROOT = process.getuid?.() === 0;

type Step = { word: string; text: string };
type Stage = { name: string; root: string; steps: Step[] };

let folder: string;
let stages: Stage[];

const readStages = (): Stage[] => {
  const found: Stage[] = [];
  for (const line of readFileSync(join(ROOT, "deploy/docker/Dockerfile"), "utf8").split("\n")) {
    const [, word = "", text = ""] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (word === "FROM") {
      const name = / AS (\w+)$/.exec(text)?.[1] ?? "final";
      found.push({ name, root: join(folder, name), steps: [] });
    } else if (word !== "") found.at(-1)?.steps.push({ word, text });
  }
  return found;
};

/** Copies the files of the commit and of the working tree that git knows, as a build context without local files. */
const copyContext = (to: string): void => {
  const names = execFileSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    {
      cwd: ROOT,
      encoding: "utf8",
    },
  );
  for (const name of names.split("\0").filter((one) => one !== "")) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    cpSync(join(ROOT, name), join(to, name));
  }
};

const copy = (stage: Stage, workdir: string, text: string): void => {
  const words = text.split(" ");
  const options = words.filter((word) => word.startsWith("--"));
  const paths = words.filter((word) => !word.startsWith("--"));
  const target = join(stage.root, paths.at(-1)?.startsWith("/") ? "" : workdir, paths.at(-1) ?? "");
  const from = options.find((option) => option.startsWith("--from="))?.slice("--from=".length);
  const source = stages.find(({ name }) => name === from)?.root ?? ROOT;
  for (const path of paths.slice(0, -1)) {
    if (path === ".") copyContext(target);
    else {
      const isFolder = paths.at(-1)?.endsWith("/") === true;
      const name = isFolder ? (path.split("/").at(-1) ?? "") : "";
      cpSync(join(source, path), join(target, name), { recursive: true });
    }
  }
};

/** Runs the steps of a stage below its own root. */
const build = async (stage: Stage): Promise<void> => {
  let workdir = "/";
  for (const { word, text } of stage.steps) {
    if (word === "WORKDIR") {
      workdir = text;
      mkdirSync(join(stage.root, workdir), { recursive: true });
    } else if (word === "COPY") copy(stage, workdir, text);
    else if (word === "RUN") await run("sh", ["-c", text], { cwd: join(stage.root, workdir) });
  }
};

const textOf = ({ steps }: Stage, word: string): string =>
  steps.findLast((step) => step.word === word)?.text ?? "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "container-"));
  stages = readStages();
  for (const stage of stages) {
    mkdirSync(stage.root);
    await build(stage);
  }
}, 600_000);
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

describe("the image", () => {
  verifies("OP-42");
  it("starts by the steps of the Dockerfile, without root and with one folder to write to", async () => {
    const [final] = stages.slice(-1);
    if (final === undefined) throw new Error("the Dockerfile has no stage");
    const port = String(await freePort());
    const inRoot = (text: string): string =>
      text
        .replaceAll(/"\/(app|data)/g, `"${final.root}/$1`)
        .replaceAll("8080", port)
        .replaceAll("0.0.0.0", "127.0.0.1");
    const data = join(final.root, "data");
    if (IS_ROOT) execFileSync("chown", [String(UNPRIVILEGED_UID), data]);
    chmodSync(folder, 0o755);
    const [entry, args] = [textOf(final, "ENTRYPOINT"), textOf(final, "CMD")].map(
      (text) => JSON.parse(inRoot(text)) as string[],
    );
    const set = final.steps.filter(({ word }) => word === "ENV").map(({ text }) => text.split("="));
    const env = { ...Object.fromEntries(set), RECEIVABLES_DATA: data, PATH: process.env["PATH"] };
    const user = IS_ROOT ? { uid: UNPRIVILEGED_UID, gid: UNPRIVILEGED_UID } : {};
    const [, ...program] = entry ?? [];
    // Node itself comes from the base image.
    const child = spawn(process.execPath, [...program, ...(args ?? [])], {
      env,
      cwd: join(final.root, "app"),
      stdio: "ignore",
      ...user,
    });
    try {
      const check = textOf(final, "HEALTHCHECK").replace(/^.*? CMD /, "");
      const [, ...probe] = JSON.parse(inRoot(check)) as string[];
      const isHealthy = () => spawnSync(process.execPath, probe).status;
      await expect.poll(isHealthy, { timeout: 60_000 }).toBe(0);
      expect(child.exitCode).toBe(null);
    } finally {
      child.kill("SIGTERM");
    }
  });
});

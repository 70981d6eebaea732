import { execFile } from "node:child_process";
import { createWriteStream } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { ZipFile } from "yazl";
import type { Metafile } from "esbuild";
import about from "../../package.json" with { type: "json" };
import manifest from "../../manifest.json" with { type: "json" };
import { bundle } from "./bundle.ts";
import { npm } from "./npm.ts";
import { PLUGIN, PLUGINS } from "./plugins.ts";

const ROOT = join(import.meta.dirname, "../..");
const MCPB = join(ROOT, "node_modules/@anthropic-ai/mcpb/dist/cli/cli.js");

/** Beside the program: the manifest, its icon, and what people read. */
const FILES = ["manifest.json", "README.md", "LICENSE", manifest.icon];

// The earliest time that a ZIP archive can name, so that equal files make equal archives.
const EARLIEST = new Date(1980, 0, 1);

const zip = async (folder: string, out: string, within = ""): Promise<void> => {
  const archive = new ZipFile();
  const names = await readdir(folder, { recursive: true });
  for (const name of names.toSorted()) {
    const path = join(folder, name);
    if (!(await stat(path)).isFile()) continue;
    archive.addFile(path, within + name.replaceAll(sep, "/"), {
      mtime: EARLIEST,
      forceDosTimestamp: true,
      mode: 0o100644,
    });
  }
  archive.end();
  await pipeline(archive.outputStream, createWriteStream(out));
};

/** Builds the program in a new folder, adds files and a package.json, packs the folder and removes it. */
const packProgram = async (
  files: readonly string[],
  packageJson: object,
  pack: (stage: string) => Promise<unknown>,
): Promise<Metafile> => {
  const stage = await mkdtemp(join(tmpdir(), "receivables-bundle-"));
  try {
    const metafile = await bundle(join(stage, "dist"));
    for (const file of files) await cp(join(ROOT, file), join(stage, file), { recursive: true });
    await writeFile(join(stage, "package.json"), `${JSON.stringify(packageJson, null, 2)}\n`);
    await pack(stage);
    return metafile;
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
};

/** Packs the desktop extension as a ZIP archive. Equal sources make equal files. */
export const packExtension = (out: string): Promise<Metafile> =>
  // The package.json marks the program's files as ES modules.
  packProgram(FILES, { type: "module" }, async (stage) => {
    const validate = [MCPB, "validate", join(stage, "manifest.json")];
    await promisify(execFile)(process.execPath, validate);
    await mkdir(dirname(out), { recursive: true });
    await zip(stage, out);
  });

/**
 * Packs a plugin for each host as a ZIP archive with one folder, which holds the skills and the program.
 */
export const packPlugins = async (folder: string): Promise<void> => {
  const files = ["skills", "LICENSE", manifest.icon];
  await packProgram(files, { type: "module" }, async (stage) => {
    for (const { host, files: manifests } of PLUGINS) {
      for (const [path, content] of Object.entries(manifests)) {
        await mkdir(dirname(join(stage, path)), { recursive: true });
        await writeFile(join(stage, path), `${JSON.stringify(content, null, 2)}\n`);
      }
      const out = join(folder, `${about.name}-${host}-${about.version}.zip`);
      await zip(stage, out, `${PLUGIN}/`);
      for (const path of Object.keys(manifests)) await rm(join(stage, path));
    }
  });
};

/** Packs the npm package into a folder. Its manifest leaves out what the program contains and what a checkout needs. */
export const packPackage = async (folder: string): Promise<void> => {
  const {
    private: _private,
    dependencies: _dependencies,
    devDependencies: _devDependencies,
    devEngines: _devEngines,
    workspaces: _workspaces,
    allowScripts: _allowScripts,
    scripts: _scripts,
    scarfSettings: _scarfSettings,
    ...published
  } = about;
  const files = [...about.files.filter((file) => file !== "dist"), "LICENSE"];
  await packProgram(files, published, async (stage) => {
    await mkdir(folder, { recursive: true });
    await npm("pack", stage, "--pack-destination", folder);
  });
};

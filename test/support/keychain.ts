import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A person's keychain of their own, on a message bus of its own. */
export type KeychainService = { env: Record<string, string>; close(): Promise<void> };

const has = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

/** Why no real keychain can be had on this machine, if so. */
export const noKeychainService = (): string | undefined =>
  ["dbus-daemon", "gnome-keyring-daemon"]
    .filter((program) => !has(program))
    .map((program) => `this machine has no ${program}`)[0];

const firstLine = async (child: ChildProcess): Promise<string> => {
  let text = "";
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    if (text.includes("\n")) return text.trim();
  }
  throw new Error("the message bus has ended");
};

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "exit");
  child.kill("SIGKILL");
  await closed;
};

// Without services of the machine's own, lest the bus start a second keychain that is locked.
const busAt = (folder: string): string => `<busconfig>
  <type>session</type>
  <listen>unix:dir=${folder}</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>`;

/** Starts a message bus with GNOME's keychain, unlocked; the caller must end it. */
export const startKeychainService = async (): Promise<KeychainService> => {
  const home = await mkdtemp(join(tmpdir(), "keychain-"));
  await chmod(home, 0o700);
  const base = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_RUNTIME_DIR: home,
    XDG_DATA_HOME: home,
  };
  const config = join(home, "bus.conf");
  await writeFile(config, busAt(home));
  const bus = spawn("dbus-daemon", [`--config-file=${config}`, "--nofork", "--print-address"], {
    env: base,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const env = { ...base, DBUS_SESSION_BUS_ADDRESS: await firstLine(bus) };
  const args = ["--foreground", "--unlock", "--components=secrets"];
  const daemon = spawn("gnome-keyring-daemon", args, { env, stdio: ["pipe", "ignore", "ignore"] });
  daemon.stdin?.end("a password of tests");
  return {
    env,
    async close() {
      await end(daemon);
      await end(bus);
      await rm(home, { recursive: true, force: true, maxRetries: 3 });
    },
  };
};

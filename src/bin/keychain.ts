import { text } from "node:stream/consumers";
import type { KeychainReply, KeychainRequest } from "../broker/keychain.ts";
import { getMessage, getCode } from "../kit/error.ts";

const SERVICE = "receivables-mcp";

// Without a secret service the module would take the kernel's keyring, which is gone after the next start.
const PINNED = { linux: { store: "secret-service" } } as const;

const describeError = (error: unknown): string => {
  if (getCode(error) === "ERR_MODULE_NOT_FOUND") {
    return "this program was installed without its keychain module";
  }
  return getMessage(error);
};

const perform = async ({ act, account, secret = "" }: KeychainRequest): Promise<KeychainReply> => {
  try {
    const { Entry } = await import("@napi-rs/keyring");
    const entry = new Entry(SERVICE, account, PINNED);
    if (act === "get") return { value: entry.getPassword() };
    if (act === "remove") return { value: entry.deleteCredential() };
    entry.setPassword(secret);
    return entry.getPassword() === secret
      ? { value: true }
      : { why: "it does not return the stored value" };
  } catch (error) {
    return { why: describeError(error) };
  }
};

// One request on standard input, one reply on standard output: see `keychainIn`.
const request = JSON.parse(await text(process.stdin)) as KeychainRequest;
process.stdout.write(JSON.stringify(await perform(request)));

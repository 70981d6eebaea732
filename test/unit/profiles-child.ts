import { createMissingKeychain } from "../../src/broker/keychain.ts";
import { toCredentials, createSealedProfiles } from "../../src/broker/profiles.ts";

const [folder = "", who = "", times = "0"] = process.argv.slice(2);
const profiles = createSealedProfiles({
  folder,
  masterKey: async () => Buffer.alloc(32, 7),
  keychain: createMissingKeychain("this is a test"),
});

for (let round = 0; round < Number(times); round++) {
  const credentials = toCredentials({ apiKey: `canary ${who} ${round} `.repeat(500) });
  await profiles.write({ name: "shared", baseUrl: `http://${who}.example`, credentials });
  const read = await profiles.read("shared");
  const [host = ""] = /(?<=\/\/)\w+/.exec(read?.baseUrl ?? "") ?? [];
  const key = read?.credentials.apiKey?.reveal() ?? "";
  // Each read must return one writer's value as a whole.
  if (!key.startsWith(`canary ${host} `) || key.length < 4500) throw new Error("torn");
}
process.stdout.write("whole");

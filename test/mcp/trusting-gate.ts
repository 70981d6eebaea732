import { toAuthInfo, SCOPES } from "../../src/mcp/caller.ts";
import type { Gate } from "../../src/mcp/http/gate.ts";

/** Admits callers without proof: the Authorization header is `ID[@CLIENT] SCOPE…`. */
export const trustingGate: Gate = {
  async admit({ headers }) {
    const [named = "", ...scopes] = (headers.get("authorization") ?? "").split(" ");
    const [id = "", client = "client-1"] = named.split("@");
    if (id === "") return new Response(null, { status: 401 });
    const known = SCOPES.filter((scope) => scopes.includes(scope));
    return toAuthInfo(
      { id, client, grant: `grant of ${client}`, scopes: known, profile: "shared" },
      { resourceMetadataUrl: "http://x/prm" },
    );
  },
  describe: () => undefined,
};

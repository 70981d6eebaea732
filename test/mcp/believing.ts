import { admitted, type Gate, SCOPES } from "../../src/mcp/http/gate.ts";

/** Whoever says their name is believed: how names are proven is the gate's own concern. */
export const believing: Gate = {
  async admit({ headers }) {
    const [id = "", ...scopes] = (headers.get("authorization") ?? "").split(" ");
    if (id === "") return new Response(null, { status: 401 });
    const known = SCOPES.filter((scope) => scopes.includes(scope));
    return admitted(
      { id, scopes: known, profile: "shared" },
      { resourceMetadataUrl: "http://x/prm" },
    );
  },
  describe: () => undefined,
};

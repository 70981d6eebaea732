import Provider, { errors } from "oidc-provider";
import { toHref } from "./direct-tokens.ts";

type Registration<P extends object> = Parameters<typeof Provider.prototype.registerGrantType<P>>;
type Handler<P extends object> = Registration<P>[1];

/** Removes names of this server from `resource`, so that the resource of the grant is used, in its own spelling. */
const narrowResource = (params: Record<string, unknown>, aliases: readonly string[]): void => {
  const named = [params["resource"]].flat();
  const isOwn = (one: unknown): boolean => typeof one === "string" && aliases.includes(toHref(one));
  if (named.every(isOwn)) delete params["resource"];
};

/** Handles a request again without the scopes that were not granted: hosts repeat those of their first request. */
const withGrantedScopes =
  <P extends object>(handle: Handler<P>): Handler<P> =>
  async (context) => {
    try {
      return await handle(context);
    } catch (error) {
      const params: Record<string, unknown> = context.oidc.params;
      const { scope } = params;
      if (!(error instanceof errors.InvalidScope) || typeof scope !== "string") throw error;
      const missing = new Set("scope" in error ? String(error.scope).split(" ") : []);
      const granted = scope.split(" ").filter((one) => one !== "" && !missing.has(one));
      params["scope"] = granted.length === 0 ? undefined : granted.join(" ");
      return handle(context);
    }
  };

/** A provider that narrows requests for a person's tokens to what the person granted, instead of refusing them. */
export class NarrowingProvider extends Provider {
  /** The names of the resource; set after construction, in which the base class registers its grants. */
  resourceAliases: readonly string[] = [];

  override registerGrantType<P extends object>(...[name, handle, ...rest]: Registration<P>): void {
    if (name !== "authorization_code" && name !== "refresh_token") {
      return super.registerGrantType(name, handle, ...rest);
    }
    const inner = name === "refresh_token" ? withGrantedScopes(handle) : handle;
    const narrowed: Handler<P> = (context) => {
      narrowResource(context.oidc.params, this.resourceAliases);
      return inner(context);
    };
    return super.registerGrantType(name, narrowed, ...rest);
  }
}

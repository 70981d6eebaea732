import type { IncomingMessage, RequestListener } from "node:http";
import type { Gate } from "../../mcp/http/gate.ts";
import type { CreateOwnKey } from "../../mcp/http/secret-page-handler.ts";
import type { Approvals } from "../../mcp/tools/asking/approvals.ts";
import type { Identity } from "./compose.ts";
import type { Config } from "../../config/config.ts";

export type Auth = NonNullable<Config["http"]["auth"]>;

/** The authentication of the MCP endpoint. It is opened before the endpoint's address is known. */
export type Entrance = {
  auth: Auth;
  /** Creates the gate of the MCP endpoint at this address. */
  gateAt(mcpUrl: URL): Gate;
  /** The path of the static tokens; `made` is the token that this start created, to be shown once. */
  tokens?: { path: string; made: string | undefined };
  /** The pages of the built-in sign-in. */
  signIn?: { isPath(path: string): boolean; listener: RequestListener };
  /** Built-in sign-in only: lets a signed-in person create an API key in answer to their request. */
  keyMaker?: (incoming: IncomingMessage) => CreateOwnKey;
  /** Returns the identity of a caller who signed in; undefined for the name of a profile. */
  identityOf?: (name: string) => Promise<Identity | undefined>;
  /** Whether a caller's name is that of a profile, where some are and some are not. */
  isProfile?: (name: string) => boolean;
  /** Built-in sign-in only: the pages on which a caller's person approves calls. */
  approvalsOf?: (name: string) => Approvals;
  close?: () => Promise<void>;
};

import type { Toolset } from "../../tools/toolsets.ts";
import type { Secret } from "../kit/secret.ts";

export type Settings = {
  toolsets: readonly Toolset[];
  /** The toolsets of which only the tools of daily work are listed. */
  coreOf?: readonly Toolset[];
  /** Whether `search` and `fetch` are listed, which hosts for research look for. */
  research?: boolean;
  readOnly: boolean;
  /** Whether few tools are listed, which find and call the others. */
  discovery?: boolean;
  /** Whether no caller of the server can have a key for the export and ingest services. */
  lacksExportKey?: boolean;
  /** When the host cannot ask the person to confirm: return a confirmation token, or refuse the call. */
  confirm: "token" | "refuse";
  /** The IANA name of the zone whose days count where the platform does not tell the tenant's; absent: UTC. */
  timeZone?: string | undefined;
  /** Whether a person is asked with a form where the host has them; absent: yes. */
  confirmForms?: boolean;
  /** Budget of one answer, in tokens of the common tokenizers. */
  answerTokens: number;
  /** Tool calls per minute of one caller; 0 means no limit. */
  callsPerMinute: number;
};

/** A person's credentials for a platform; any part may be missing. */
export type Credentials = {
  apiKey?: Secret | undefined;
  extApiKey?: Secret | undefined;
  email?: string | undefined;
  password?: Secret | undefined;
};

import {
  type McpServer,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import {
  DIRECTORY_MIME_TYPE,
  type Skill,
  skillEntry,
  SkillsExtension,
  type SkillSource,
} from "@modelcontextprotocol/server/ext/skills";
import type { Settings } from "../../config/settings.ts";
import { createLazy } from "../../kit/lazily.ts";
import { isSkillUri, renderSkills, SKILL_SCHEME, SKILL_TYPE, toAddresses } from "./skill-files.ts";

/** The files of skills, by address. */
type Files = ReadonlyMap<string, string>;

type Catalog = { entries: readonly Skill[]; files: Files };

const buildCatalog = async (settings: Settings): Promise<Catalog> => {
  const rendered = renderSkills(settings);
  const entries: Skill[] = [];
  for (const [name, files] of rendered) entries.push(await skillEntry(name, files));
  return { entries, files: toAddresses(rendered) };
};

const nameOf = (uri: string): string => uri.slice(uri.lastIndexOf("/") + 1);

/** Lists the files and folders directly in a folder; undefined if it has none. */
const listFolder = (files: Files, uri: string): Resource[] | undefined => {
  if (!isSkillUri(uri)) return undefined;
  const folder = uri === SKILL_SCHEME ? uri : `${uri.replace(/\/$/, "")}/`;
  const children = new Map<string, Resource>();
  for (const file of files.keys()) {
    if (!file.startsWith(folder)) continue;
    const [name = "", ...below] = file.slice(folder.length).split("/");
    const child = `${folder}${name}`;
    const mimeType = below.length === 0 ? SKILL_TYPE : DIRECTORY_MIME_TYPE;
    children.set(child, { uri: child, name: nameOf(child), mimeType });
  }
  return children.size === 0 ? undefined : [...children.values()];
};

const createSource = (settings: Settings): SkillSource => {
  const catalog = createLazy(() => buildCatalog(settings));
  return {
    list: async () => ({ skills: [...(await catalog()).entries] }),
    get: async (uri) => (await catalog()).entries.find((entry) => entry.uri === uri),
    async read(uri) {
      const text = (await catalog()).files.get(uri);
      return text === undefined ? undefined : { text, mimeType: SKILL_TYPE };
    },
    async readDirectory(uri) {
      const resources = listFolder((await catalog()).files, uri);
      return resources && { resources };
    },
  };
};

type Read = (uri: URL, variables: object, context: ServerContext) => Promise<ReadResourceResult>;

/** Reads a file of a skill by its address. @throws {ResourceNotFoundError} */
export type ReadSkill = (uri: string, context: ServerContext) => Promise<ReadResourceResult>;

/** Serves the skills of a server (SEP-2640); returns the reader of their files. */
export type ServeSkills = (server: Server) => ReadSkill;

/**
 * Creates the skills extension for settings. The extension attaches to the high-level server, of which it uses the
 * server below, and the reader of files that it registers.
 */
export const createSkills = (
  settings: Settings,
  hint: { ttlMs: number; cacheScope: "private" },
) => {
  const extension = new SkillsExtension({
    source: createSource(settings),
    baseUri: SKILL_SCHEME,
    cacheHint: hint,
    strict: true,
  });
  const serve: ServeSkills = (server) => {
    let read: Read | undefined;
    const host = {
      server,
      isConnected: () => false,
      registerResource: (_name: string, _template: object, _config: object, own: Read) => {
        read = own;
      },
    };
    extension.attach(host as unknown as McpServer);
    return async (uri, context) => {
      if (read === undefined) throw new Error("the extension has registered no reader");
      const url = URL.parse(uri);
      if (url === null) throw new ResourceNotFoundError(uri);
      return read(url, {}, context);
    };
  };
  return serve;
};

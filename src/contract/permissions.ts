export const AREAS = [
  "Dispute Management",
  "Dispute Configuration",
  "User Management",
  "Credit Applications",
] as const;
export const ACTIONS = ["READ", "CREATE", "UPDATE", "DELETE"] as const;
export type Area = (typeof AREAS)[number];
export type Action = (typeof ACTIONS)[number];
export type Permission = `${Area} : ${Action}`;

const listPermissions = (area: Area): Permission[] =>
  ACTIONS.map((action): Permission => `${area} : ${action}`);
const toReadPermission = (area: Area): Permission => `${area} : READ`;

export const PERMISSIONS: readonly Permission[] = AREAS.flatMap(listPermissions);

export const isPermission = (text: string): text is Permission =>
  (PERMISSIONS as readonly string[]).includes(text);

const DISPUTE_WORK: Permission[] = [
  "Dispute Management : READ",
  "Dispute Management : CREATE",
  "Dispute Management : UPDATE",
];

export type Role = { roleId: string; name: string; grants: readonly Permission[] };

/** The built-in roles, highest first. The v1 user format returns a user's highest role. */
export const BUILT_IN_ROLES: readonly Role[] = [
  { roleId: "administrator", name: "Administrator", grants: PERMISSIONS },
  {
    roleId: "ar-manager",
    name: "AR Manager",
    grants: [
      ...listPermissions("Dispute Management"),
      ...listPermissions("Dispute Configuration"),
      toReadPermission("Credit Applications"),
      toReadPermission("User Management"),
    ],
  },
  {
    roleId: "dispute-analyst",
    name: "Dispute Analyst",
    grants: [
      ...DISPUTE_WORK,
      toReadPermission("Dispute Configuration"),
      toReadPermission("Credit Applications"),
      toReadPermission("User Management"),
    ],
  },
  {
    roleId: "agent",
    name: "Agent",
    grants: [
      ...DISPUTE_WORK,
      toReadPermission("Dispute Configuration"),
      toReadPermission("Credit Applications"),
    ],
  },
  { roleId: "integration", name: "Integration", grants: DISPUTE_WORK },
  { roleId: "viewer", name: "Viewer", grants: AREAS.map(toReadPermission) },
];

/** Scopes to which an export or ingest key can be limited. */
export const SCOPES = [
  "export:read",
  "export:manage",
  "audit:read",
  "ingest:read",
  "ingest:write",
] as const;
export type Scope = (typeof SCOPES)[number];

export const isScope = (text: string): text is Scope =>
  (SCOPES as readonly string[]).includes(text);

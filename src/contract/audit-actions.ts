/** The actions of audit entries that belong to no operation: pages, signed URLs, jobs and a step of the schema. */
export const SERVICE_ACTIONS = [
  "audit.sealed",
  "auth.password_changed",
  "auth.password_reset",
  "dispute_attachment.uploaded",
  "payments.matched",
] as const;

/** The actions of audit entries that belong to commands, and so to no operation. */
export const COMMAND_ACTIONS = [
  "admin.demo_created",
  "admin.import_undone",
  "admin.key_issued",
  "admin.key_revoked",
  "admin.payment_doubt_settled",
  "admin.payments_matched",
  "admin.reason_set",
  "admin.resolution_set",
  "admin.role_changed",
  "admin.role_created",
  "admin.role_deleted",
  "admin.route_set",
  "admin.tenant_changed",
  "admin.tenant_created",
  "admin.tenant_deleted",
  "admin.tenant_exported",
  "admin.tenant_imported",
  "admin.user_changed",
  "admin.user_created",
  "admin.user_deleted",
  "admin.user_password_set",
  "admin.user_reset_link_created",
  "import.accounts",
  "import.audit-logs",
  "import.business-units",
  "import.closures",
  "import.credit-applications",
  "import.disputes",
  "import.documents",
  "import.payments",
  "import.scores",
] as const;
export type CommandAction = (typeof COMMAND_ACTIONS)[number];

import type { SqlContext } from '../contract/context.ts'

/** Serializes the tenant's requests for `what` until the transaction ends: concurrent ones cannot each pass a limit. */
export const lockTenant = ({ sql, tenant: { ownerId, mode } }: SqlContext, what: string): Promise<unknown> =>
  sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${what}|${ownerId}|${mode}`])

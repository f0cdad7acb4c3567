import type { Context } from '../contract/context.ts'

/** Until the transaction ends nobody else of this tenant is at it: so does no limit give way to many at once. */
export const inTurn = (
  { sql, tenant: { ownerId, mode } }: Pick<Context, 'sql' | 'tenant'>,
  what: string,
): Promise<unknown> =>
  sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`${what}|${ownerId}|${mode}`])

import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { Deletion } from './deletion.ts'
import { shownObstacles } from './deletions.ts'
import type { erasureApi } from './erasure-api.ts'

/** Across all owners. */
const ERASURES = `
select id, owner_id as "ownerId", mode, status, jsonb_build_object('type', subject_type, 'id', subject_id) as subject,
  begins_at as "beginsAt", coalesce(first_completed_at, completed_at) as "completedAt", waits_for as "waitsFor"
from gdpr_deletions d
where id > $1 and status <> 'cancelled' and ($2::text is null or status = $2) order by id limit $3`

interface ErasureRow extends Row, Pick<Deletion, 'id' | 'ownerId' | 'mode' | 'waitsFor' | 'beginsAt'> {
  readonly status: Exclude<Deletion['status'], 'cancelled'>
  readonly subject: { readonly type: Deletion['subjectType']; readonly id: string }
  readonly completedAt: Date | null
}

export const listErasures: HandlerOf<typeof erasureApi.listErasures> = async (
  { query: { status } },
  { sql, pageBy },
) => {
  const { data, ...cursor } = await pageBy((after, most) =>
    sql<ErasureRow>(ERASURES, [after ?? '', status ?? null, most]),
  )
  return { ...cursor, data: data.map(row => ({ ...row, waitsFor: shownObstacles(row.waitsFor) })) }
}

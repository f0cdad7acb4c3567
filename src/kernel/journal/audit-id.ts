import type { PageOf } from '../contract/page.ts'
import { withMembers } from '../database/entity.ts'

interface StoredEntry {
  /** That of the event: rows are sorted by it. */
  readonly id: string
  /** Only of entries that were written before events and audit entries became one row. */
  readonly auditId: string | null
}

/** The page with the ids that audit entries have in answers: those of their events, with a prefix of their own. */
export const withAuditIds = <T extends StoredEntry, P extends PageOf<T>>(page: P & PageOf<T>) => ({
  ...page,
  data: page.data.map(entry =>
    withMembers(entry, { id: entry.auditId ?? entry.id.replace('event', 'audit') }),
  ),
})

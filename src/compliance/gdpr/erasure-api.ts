import { z } from 'zod'
import { list } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { DeletionRecord, openOrCompleted } from './deletion-api.ts'
import { SubjectRecord } from './export-api.ts'

/** Ids and times only: it is kept where the data themselves are not. */
const ErasureRecord = z
  .object({
    id: id('gdprdeletion').meta({ description: 'The deletion.' }),
    ownerId: id('customer'),
    mode: z.enum(['test', 'live']),
    status: openOrCompleted,
    subject: SubjectRecord,
    beginsAt: instant,
    completedAt: instant
      .nullable()
      .meta({ description: 'When it was completed first, also where it is carried out again.' }),
    waitsFor: DeletionRecord.shape.waitsFor,
  })
  .meta({ id: 'GdprErasure' })

export const erasureApi = {
  listErasures: list('/gdpr/erasures', {
    callers: ['dash'],
    summary: 'List all deletions of all owners',
    description:
      'Oldest first, by ids, without those that were taken back. Keep the list beside your backups: a backup that is restored knows nothing of what was forgotten after it was made, and `agentpay gdpr reapply` has it carried out again.',
    filters: { status: openOrCompleted.optional() },
    item: ErasureRecord,
  }),
}

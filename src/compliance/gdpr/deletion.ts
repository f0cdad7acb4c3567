import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable, timestampColumn } from '../../kernel/database/entity.ts'
import { personalTable, plain } from '../../kernel/database/personal.ts'
import { days } from '../../values/clock.ts'
import type { RetentionGround } from '../../values/personal.ts'
import { dataSubjectTypes } from './data-export.ts'
import type { DeletionBlocker } from './obstacles.ts'

export const dataDeletionMachine = stateMachine('gdpr-deletion', {
  requested: ['waiting', 'ending', 'cancelled'],
  waiting: ['ending', 'cancelled'],
  ending: ['waiting', 'forgetting'],
  forgetting: ['completed'],
  completed: [],
  cancelled: [],
})

/** SQL condition: the run of the deletion has something to wait for. It must equal the partial index's text. */
export const UNFINISHED_DELETION_SQL = "status not in ('completed', 'cancelled')"

/** How long a request can be withdrawn before anything is deleted, in the tenant's time. */
export const DELETION_GRACE_MS = days(7)

export interface RetainedRecords {
  readonly ground: RetentionGround
  readonly records: number
  readonly areas: readonly string[]
  readonly until: string
}

const schema = defineEntity({
  ...tenantTable('Deletion', 'gdpr_deletions'),
  ...personalTable({ plain: ['place'] }),
  properties: {
    ...recordColumns('gdprdeletion'),
    status: p.enum(dataDeletionMachine.states).onCreate(() => dataDeletionMachine.initial),
    subjectType: plain(p.enum(dataSubjectTypes)),
    subjectId: plain(p.text()),
    answerBy: timestampColumn(),
    beginsAt: timestampColumn(),
    waitsFor: plain(p.json<readonly DeletionBlocker[]>().onCreate(() => [])),
    records: p
      .bigint()
      .$type<bigint>()
      .onCreate(() => 0n),
    kept: plain(p.json<readonly RetainedRecords[]>().onCreate(() => [])),
    completedAt: nullable.instant(),
    cancelledAt: nullable.instant(),
    /** When it was completed before a backup was restored. Only the database knows how far it has read. */
    firstCompletedAt: nullable.instant(),
    /** After completion: when the next retention period ends. */
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

/** A request for erasure. The ids stay, so that it can be repeated after a backup was restored. */
export class Deletion extends schema.class {}
schema.setClass(Deletion)

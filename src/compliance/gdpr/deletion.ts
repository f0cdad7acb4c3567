import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { days } from '../../values/clock.ts'
import type { Ground, Personal } from '../../values/personal.ts'
import { subjectTypes } from './data-export.ts'
import type { Obstacle } from './obstacles.ts'

export const deletionMachine = machine('gdpr-deletion', {
  requested: ['waiting', 'ending', 'cancelled'],
  waiting: ['ending', 'cancelled'],
  ending: ['waiting', 'forgetting'],
  forgetting: ['completed'],
  completed: [],
  cancelled: [],
})

/** SQL condition: the process of the deletion has something to wait for. Written exactly as in the partial index. */
export const UNFINISHED = "status not in ('completed', 'cancelled')"

/** How long a request can be taken back before anything is done, in the tenant's time. */
export const REFLECTION_MS = days(7)

/** What the law keeps on one ground. */
export interface Kept {
  readonly ground: Ground
  readonly records: number
  /** The areas whose records they are. */
  readonly areas: readonly string[]
  /** When they are removed, ISO 8601. */
  readonly until: string
}

const schema = defineEntity({
  ...tenantTable('Deletion', 'gdpr_deletions'),
  properties: {
    ...record('gdprdeletion'),
    status: p.enum(deletionMachine.states).onCreate(() => deletionMachine.initial),
    subjectType: p.enum(subjectTypes),
    subjectId: p.text(),
    answerBy: timestamp(),
    beginsAt: timestamp(),
    waitsFor: p.json<readonly Obstacle[]>().onCreate(() => []),
    records: p
      .bigint()
      .$type<bigint>()
      .onCreate(() => 0n),
    kept: p.json<readonly Kept[]>().onCreate(() => []),
    completedAt: nullable.instant(),
    cancelledAt: nullable.instant(),
    /** When it was completed before a backup was restored. The place up to which it has read the database alone knows. */
    firstCompletedAt: nullable.instant(),
    /** After the completion: when the law lets go of what it has kept. */
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

/** Somebody's request to be forgotten. The ids stay: by them it is done again where a backup was restored. */
export class Deletion extends schema.class {}
schema.setClass(Deletion)

/** `by_id` is a key, or a person of the account. */
export const gdprPersonal = {
  consents: {
    personal: { by_id: { kind: 'name', ground: 'claims', forget: 'word' } },
    plain: ['purpose', 'wording_version', 'by_type'],
    about: { person: ['by_id'] },
  },
  gdpr_exports: {
    personal: { subject_id: { kind: 'name', ground: 'claims', forget: 'word' } },
    plain: ['subject_type'],
    about: {
      person: ['subject_id'],
      beneficiary: ['subject_id'],
      payer: ['subject_id'],
      merchant: ['subject_id'],
    },
  },
  /** Ids only: by them it is done again after a backup was restored. */
  gdpr_deletions: {
    personal: {},
    plain: ['subject_type', 'subject_id', 'waits_for', 'kept', 'place'],
  },
} as const satisfies Personal

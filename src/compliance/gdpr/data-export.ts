import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { days } from '../../values/clock.ts'
import { otherSubjects } from '../../values/personal.ts'

export const exportMachine = machine('gdpr-export', {
  requested: ['ready'],
  ready: ['expired'],
  expired: [],
})

/** SQL condition: the process of the export has something to wait for. */
export const OPEN = "status <> 'expired'"

/** How long the archive can be downloaded, in the tenant's time. */
export const KEPT_MS = days(7)

export const subjectTypes = ['owner', ...otherSubjects] as const
export type SubjectType = (typeof subjectTypes)[number]

const schema = defineEntity({
  ...tenantTable('DataExport', 'gdpr_exports'),
  properties: {
    ...record('gdprexport'),
    status: p.enum(exportMachine.states).onCreate(() => exportMachine.initial),
    subjectType: p.enum(subjectTypes),
    subjectId: p.text(),
    /** How many records there were when it became ready. */
    records: p
      .bigint()
      .$type<bigint | null>()
      .strictNullable()
      .onCreate(() => null),
    answerBy: timestamp(),
    readyAt: nullable.instant(),
    expiresAt: nullable.instant(),
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

/** Somebody's request for all that is held about a person. */
export class DataExport extends schema.class {}
schema.setClass(DataExport)

import { defineEntity, p } from '@mikro-orm/core'
import { PLATFORM_OWNER_ID } from '../../identity/customers/index.ts'
import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import { nullable, recordColumns, tenantTable, timestampColumn } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { days } from '../../values/clock.ts'
import { nonOwnerSubjects } from '../../values/personal.ts'

export const dataExportMachine = stateMachine('gdpr-export', {
  requested: ['ready'],
  ready: ['expired'],
  expired: [],
})

export const UNEXPIRED_EXPORT_SQL = "status <> 'expired'"

/** How long the archive can be downloaded, in the tenant's time. */
export const EXPORT_RETENTION_MS = days(7)

export const dataSubjectTypes = ['owner', ...nonOwnerSubjects] as const
export type DataSubjectType = (typeof dataSubjectTypes)[number]

const schema = defineEntity({
  ...tenantTable('DataExport', 'gdpr_exports'),
  ...personalTable({
    about: {
      person: ['subject_id'],
      beneficiary: ['subject_id'],
      payer: ['subject_id'],
      merchant: ['subject_id'],
    },
  }),
  properties: {
    ...recordColumns('gdprexport'),
    status: p.enum(dataExportMachine.states).onCreate(() => dataExportMachine.initial),
    subjectType: plain(p.enum(dataSubjectTypes)),
    subjectId: personal(p.text(), 'name', 'claims', 'word'),
    records: p
      .bigint()
      .$type<bigint | null>()
      .strictNullable()
      .onCreate(() => null),
    answerBy: timestampColumn(),
    readyAt: nullable.instant(),
    expiresAt: nullable.instant(),
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

export class DataExport extends schema.class {}
schema.setClass(DataExport)

/** Merchants' applications belong to the platform. */
const platform: Tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'live' }

export const merchantSubjectRequired: RefusalSpec = [
  400,
  'subject: with the dashboard secret, name a merchant by the ID of its application. Other subjects need a key of their account.',
]

/** The operator asks about records of the platform; every other caller about their own account. */
export function actForRequestingTenant({ actor, switchTenant }: Context): void {
  if (actor.type === 'dash') switchTenant(platform)
}

export const isSubjectOfOtherAccount = (
  type: DataSubjectType | undefined,
  { actor }: { readonly actor: Actor },
): boolean => actor.type === 'dash' && type !== 'merchant'

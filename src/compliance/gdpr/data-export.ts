import { defineEntity, p } from '@mikro-orm/core'
import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { machine } from '../../kernel/contract/machine.ts'
import type { Failure } from '../../kernel/contract/operation.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { days } from '../../values/clock.ts'
import { otherSubjects } from '../../values/personal.ts'

export const exportMachine = machine('gdpr-export', {
  requested: ['ready'],
  ready: ['expired'],
  expired: [],
})

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

export class DataExport extends schema.class {}
schema.setClass(DataExport)

/** Merchants' applications belong to the platform. */
const platform: Tenant = { ownerId: PLATFORM_OWNER, mode: 'live' }

export const merchant_needed: Failure = [
  400,
  'subject: with the dashboard secret, name a merchant by the id of its application. Other subjects need a key of their account.',
]

/** The operator asks about records of the platform; every other caller about their own account. */
export function actForRequester({ actor, switchTenant }: Pick<Context, 'actor' | 'switchTenant'>): void {
  if (actor.type === 'dash') switchTenant(platform)
}

export const isForeignSubject = (type: SubjectType | undefined, { actor }: Pick<Context, 'actor'>): boolean =>
  actor.type === 'dash' && type !== 'merchant'

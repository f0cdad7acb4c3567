import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  nullable,
  recordColumns,
  tenantTable,
  textArrayColumn,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import type { MandateConstraints } from './constraints.ts'

/**
 * `exhausted`: everything it allows has been paid. Held amounts of intents may be released, so they do not
 * exhaust it.
 */
export const mandateMachine = stateMachine('mandate', {
  active: ['suspended', 'revoked', 'expired', 'exhausted'],
  suspended: ['active', 'revoked', 'expired', 'exhausted'],
  revoked: [],
  expired: [],
  exhausted: [],
})

/** Repeats the condition of the partial indexes over open mandates exactly. */
export const OPEN_MANDATE_SQL = "status in ('active', 'suspended')"

export const mandateSuspensionReasons = [
  'requested',
  'agent_frozen',
  'agent_deleted',
  'signer_removed',
] as const
export type MandateSuspensionReason = (typeof mandateSuspensionReasons)[number]

/** Bounds the open mandates of an agent, since each is checked for each of its intents. */
export const MAX_OPEN_MANDATES = 20

export const MAX_MANDATE_DAYS = 366

const schema = defineEntity({
  ...tenantTable('Mandate', 'mandates', 'agentId'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...recordColumns('mandate'),
    agentId: p.text(),
    name: personal(nullable.string(), 'words', 'payments', 'word'),
    perTransactionCents: nullable.cents('per_transaction_cents'),
    perDayCents: nullable.cents('per_day_cents'),
    perMonthCents: nullable.cents('per_month_cents'),
    totalCents: nullable.cents('total_cents'),
    count: nullable.integer(),
    merchants: personal(textArrayColumn(), 'payment', 'payments', 'empty'),
    mccs: plain(textArrayColumn()),
    countries: plain(textArrayColumn()),
    expiresAt: timestampColumn(),
    status: p.enum(mandateMachine.states).onCreate(() => mandateMachine.initial),
    suspendedBecause: plain(nullable.enum(mandateSuspensionReasons)),
    comment: personal(nullable.string(), 'words', 'payments', 'word'),
    endedAt: nullable.instant(),
    /** Only the credential of the assistant that it connects spends by it. */
    forAssistant: p.boolean().onCreate(() => false),
    personId: p.text(),
    passkeyId: p.text(),
    /** The mandate with the person's signature, signed by this installation. */
    jws: personal(p.text(), 'payment', 'payments', 'word'),
    workflowId: p.text(),
  },
})

/** A person's permission in advance. An intent within its terms does not wait for an approval. */
export class Mandate extends schema.class {}
schema.setClass(Mandate)

export const mandateConstraints = (mandate: Mandate): MandateConstraints => ({
  perTransactionCents: mandate.perTransactionCents,
  perDayCents: mandate.perDayCents,
  perMonthCents: mandate.perMonthCents,
  totalCents: mandate.totalCents,
  count: mandate.count,
  merchants: mandate.merchants,
  mccs: mandate.mccs,
  countries: mandate.countries,
})

export const isMandateOpen = (
  { status, expiresAt }: Pick<Mandate, 'status' | 'expiresAt'>,
  now: Date,
): boolean => !mandateMachine.isFinal(status) && expiresAt > now

const STATUS = 'select status from mandates where owner_id = $1 and mode = $2 and id = $3'

export async function mandateStatus(
  sql: Sql,
  { ownerId, mode }: Tenant,
  id: string,
): Promise<string | undefined> {
  const [mandate] = await sql<{ readonly status: string } & Row>(STATUS, [ownerId, mode, id])
  return mandate?.status
}

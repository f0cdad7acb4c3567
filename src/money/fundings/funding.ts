import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { answerTo } from '../../kernel/contract/question.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { centsColumn, nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import type { ChargeFailureReason, ChargeNextAction } from '../../ports/funding-rail.ts'
import { days, minutes } from '../../values/clock.ts'
import { type Cents, NO_CENTS } from '../../values/money.ts'
import { pendingCharges } from '../payment-methods/index.ts'

export const fundingMachine = stateMachine('funding', {
  pending: ['requires_action', 'settled', 'failed'],
  requires_action: ['pending', 'settled', 'failed'],
  settled: ['reversed'],
  failed: [],
  reversed: ['reinstated'],
  reinstated: ['reversed'],
})

export const isFundingPending = ({ status }: Pick<Funding, 'status'>): boolean =>
  status === 'pending' || status === 'requires_action'

const schema = defineEntity({
  ...tenantTable('Funding', 'fundings'),
  ...personalTable({
    keptWhile: {
      where: "t.status <> 'failed'",
      words: 'it has not failed',
    },
  }),
  properties: {
    ...recordColumns('funding'),
    walletId: p.text(),
    paymentMethodId: plain(nullable.string()),
    amountCents: centsColumn('amount_cents'),
    status: p.enum(fundingMachine.states).onCreate(() => fundingMachine.initial),
    reason: personal(nullable.json<ChargeFailureReason>(), 'payment', 'payments', { value: '{}' }),
    nextAction: personal(nullable.json<ChargeNextAction>(), 'payment', 'payments', { value: '{}' }),
    dueAt: nullable.instant(),
    settledAt: nullable.instant(),
    reversedAt: nullable.instant(),
    /** All that was ever taken, and given again. */
    reversedCents: nullable.cents('reversed_cents'),
    reinstatedCents: nullable.cents('reinstated_cents'),
    creditId: plain(nullable.string()),
  },
})

export class Funding extends schema.class {}
schema.setClass(Funding)

const PENDING = `
select coalesce(sum(amount_cents), 0)::bigint as cents from fundings
where owner_id = $1 and mode = $2 and status in ('pending', 'requires_action')`

export async function sumPendingFundings(sql: Sql, { ownerId, mode }: Tenant): Promise<Cents> {
  const [row] = await sql<{ cents: Cents }>(PENDING, [ownerId, mode])
  return row?.cents ?? NO_CENTS
}

const PENDING_OF_METHOD = `
select exists (select from fundings where owner_id = $1 and mode = $2 and payment_method_id = $3
  and status in ('pending', 'requires_action')) as "isPending"`

export const pendingChargeOfMethod = answerTo(
  pendingCharges,
  async (id, { sql, tenant: { ownerId, mode } }) => {
    const [pending] = await sql<{ isPending: boolean } & Row>(PENDING_OF_METHOD, [ownerId, mode, id])
    return pending?.isPending === true
  },
)

/** The wait before the processor is first asked about a charge that it has not answered. */
export const FIRST_FUNDING_CHECK_MS = minutes(1)
/** A charge of this age that the processor does not know was never made. */
const GIVE_UP_AFTER = days(1)

/** The wait after a day without an answer. */
export const SILENT_FUNDING_CHECK_MS = minutes(4 * 60)

/** The wait doubles with the age of an unknown charge. Undefined after a day. */
export const nextFundingCheckDelay = (age: number): number | undefined =>
  age < GIVE_UP_AFTER ? Math.max(age, FIRST_FUNDING_CHECK_MS) : undefined

/** The sweep checks open fundings. There is no workflow, since only the processor can end them. */
export const fundingDeadline: Deadline = {
  process: { name: 'funding' },
  table: 'fundings',
  open: "status in ('pending', 'requires_action')",
  operations: ['fund.follow'],
}

import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { Refund } from '../../money/refunds/index.ts'
import type { CardRefundOutcome, NewCardRefund, ProcessorFailure } from '../../ports/card-processor.ts'
import type { refundsApi } from './api.ts'
import { lockRefund } from './lock-refund.ts'
import { refundProcess } from './process.ts'
import { refundResponse } from './schemas.ts'

type Creating = ContextOf<typeof refundsApi.create>

/** A payment by card, as the processor that is to ask its merchant must know it. */
export interface PushablePayment extends Row {
  readonly transactionId: string
  readonly processorRef: string
  readonly processorCardId: string
  readonly descriptor: string
  readonly mcc: string | null
  readonly country: string | null
}

const PUSHABLE = `
select a.transaction_id as "transactionId", a.processor_ref as "processorRef", a.descriptor, a.mcc, a.country,
  n.processor_card_id as "processorCardId"
from card_authorizations a
join lateral (
  select one.processor_card_id from card_numbers one
  where (one.owner_id, one.mode, one.card_id) = ($1, $2, a.card_id) order by one.id desc limit 1) n on true
where a.owner_id = $1 and a.mode = $2 and a.transaction_id = any($3::text[]) and a.processor_ref is not null`

/** Those of these payments of which the processor can ask the merchant for money; none, where it cannot, or there is none. */
export async function pushableOf(
  sql: Sql,
  tenant: Tenant,
  transactionIds: readonly string[],
  ports: Ports,
): Promise<ReadonlyMap<string, PushablePayment>> {
  if (transactionIds.length === 0 || !canPush(ports, tenant.mode)) return new Map()
  const rows = await sql<PushablePayment>(PUSHABLE, [tenant.ownerId, tenant.mode, transactionIds])
  return new Map(rows.map(row => [row.transactionId, row]))
}

function canPush(ports: Ports, mode: Mode): boolean {
  try {
    return ports.cardProcessor(mode).pushRefund !== null
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}

/** What the processor is asked, once: JSON, as it outlives a crash. */
export interface Push {
  readonly refundId: string
  readonly mode: Mode
  readonly now: string
  readonly cents: string
  readonly refund: Omit<NewCardRefund, 'amountEuros'>
}

/** The refund waits for its merchant by now; the processor is to ask for it. */
export function pushOf(
  { processorRef, processorCardId, descriptor, mcc, country }: PushablePayment,
  { refundId, mode, now, cents }: Omit<Push, 'refund'>,
): Push {
  const merchant = { descriptor, mcc, country, url: null, networkTokenId: null }
  return { refundId, mode, now, cents, refund: { processorCardId, authorizationId: processorRef, merchant } }
}

export type PushAnswer = CardRefundOutcome | ProcessorFailure

export async function push(
  { refundId, mode, now, cents, refund }: Push,
  { ports, requestId }: { readonly ports: Ports; readonly requestId: string },
): Promise<PushAnswer> {
  const { pushRefund } = ports.cardProcessor(mode)
  const call = { reference: `${refundId}/push`, requestId, now: new Date(now) }
  return pushRefund?.({ ...refund, amountEuros: BigInt(cents) }, call) ?? { status: 'asked' }
}

/** The refund fails where the merchant declines; without an answer it waits for the money, as one that was not pushed. */
export async function recordPush(answer: PushAnswer, { refundId }: Push, context: Creating) {
  if (!('status' in answer) || answer.status === 'asked') return foundRefund(refundId, context)
  const { sql, emit, wake, sendAlong } = context
  const { known, row, refunds } = (await lockRefund(refundId, context)) ?? {}
  if (!row || !refunds) return known ? refundResponse(known) : foundRefund(refundId, context)
  const message = `The merchant has declined: ${answer.message} Dispute the payment: POST /disputes.`
  refunds.fail(row, { code: 'declined', message }, emit)
  wake(refundProcess, row)
  sendAlong(refunds.write(sql))
  return refundResponse(row)
}

/** The refund as it stands: the credit may be there already. */
export const foundRefund = async (id: string, { records }: Creating) =>
  refundResponse(await records.findOneOrFail(Refund, { id }))

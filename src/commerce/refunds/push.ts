import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { CardRefundOutcome, NewCardRefund, ProcessorFailure } from '../../ports/card-processor.ts'
import { after, minutes } from '../../values/clock.ts'

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

/** What the processor is asked: JSON, as it outlives a crash. */
export interface Push {
  readonly refundId: string
  readonly mode: Mode
  readonly now: string
  /** When the refund was asked for. */
  readonly since: string
  readonly cents: string
  readonly refund: Omit<NewCardRefund, 'amountEuros' | 'requestedAt'>
}

/** The refund waits for its merchant by now; the processor is to ask for it. */
export function pushOf(
  { processorRef, processorCardId, descriptor, mcc, country }: PushablePayment,
  call: Omit<Push, 'refund'>,
): Push {
  const merchant = { descriptor, mcc, country, url: null, networkTokenId: null }
  return { ...call, refund: { processorCardId, authorizationId: processorRef, merchant } }
}

/** Longer than a call takes, so that no two are under way for one refund; then twice as long each time, up to an hour. */
export const askAgainAt = (now: Date, attempts: number): Date =>
  after(now, minutes(Math.min(2 ** Math.min(attempts - 1, 10), 60)))

export type PushAnswer = CardRefundOutcome | ProcessorFailure

/** Asks under one reference, however often: so what became of a call whose answer was lost is told by the next one. */
export async function push(
  { refundId, mode, now, since, cents, refund }: Push,
  { ports, requestId }: { readonly ports: Ports; readonly requestId: string },
): Promise<PushAnswer> {
  const { pushRefund } = ports.cardProcessor(mode)
  const asked = { ...refund, amountEuros: BigInt(cents), requestedAt: new Date(since) }
  const call = { reference: `${refundId}/push`, requestId, now: new Date(now) }
  return (
    pushRefund?.(asked, call) ?? { failure: 'refused', code: 'cannot', message: 'It cannot ask merchants.' }
  )
}

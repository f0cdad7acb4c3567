import { CardAuthorization } from '../../cards/authorizations/index.ts'
import { CardNumber } from '../../cards/cards/index.ts'
import type { Mode } from '../../kernel/contract/actor.ts'
import { NextCall } from '../../kernel/contract/handlers.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Refund } from '../../money/refunds/index.ts'
import type { CardRefundOutcome, NewCardRefund, ProcessorFailure } from '../../ports/card-processor.ts'
import type { refundsApi } from './api.ts'
import { lockRefund } from './lock-refund.ts'
import { refundProcess } from './process.ts'
import { refundResponse } from './schemas.ts'

type Creating = ContextOf<typeof refundsApi.create>

/** A refund that waits for its merchant: the processor is to ask for it, where it can. JSON, as it outlives a crash. */
export interface AskedOfMerchant {
  readonly refundId: string
  readonly transactionId: string
  readonly cents: string
}

/** What the processor is asked, once. */
export interface Push {
  readonly refundId: string
  readonly mode: Mode
  readonly now: string
  readonly cents: string
  readonly refund: Omit<NewCardRefund, 'amountEuros'>
}

export type PushAnswer = CardRefundOutcome | ProcessorFailure

/** Reads what the processor needs; a processor that cannot ask leaves it to the owner. */
export async function beginPush(
  { refundId, transactionId, cents }: AskedOfMerchant,
  context: Creating,
): Promise<ReturnType<typeof refundResponse> | NextCall<{ readonly push: Push }>> {
  const { records, tenant, now, ports } = context
  const payment = await records.findOne(CardAuthorization, { transactionId })
  const [number] = payment?.cardId
    ? await records.find(CardNumber, { cardId: payment.cardId }, { orderBy: { id: 'desc' }, limit: 1 })
    : []
  if (!payment?.processorRef || !number || !ports.cardProcessor(tenant.mode).pushRefund)
    return foundRefund(refundId, context)
  const { descriptor, merchant, mcc, country, processorRef } = payment
  const refund = {
    processorCardId: number.processorCardId,
    authorizationId: processorRef,
    merchant: { descriptor: descriptor ?? merchant, mcc, country, url: null, networkTokenId: null },
  }
  return new NextCall({ push: { refundId, mode: tenant.mode, now: now.toISOString(), cents, refund } })
}

export async function push(
  { refundId, mode, now, cents, refund }: Push,
  { ports, requestId }: { readonly ports: Ports; readonly requestId: string },
): Promise<PushAnswer> {
  const { pushRefund } = ports.cardProcessor(mode)
  const call = { reference: `${refundId}/push`, requestId, now: new Date(now) }
  return pushRefund?.({ ...refund, amountEuros: BigInt(cents) }, call) ?? { status: 'asked' }
}

/** A merchant that declines has the last word; where nobody has answered, the refund waits as any other does. */
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

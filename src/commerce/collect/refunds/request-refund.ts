import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../../kernel/database/entity.ts'
import { minutes } from '../../../values/clock.ts'
import { paymentWays } from '../request-payment.ts'

/** `returned`: the payer’s bank has sent the money back to us. */
export const refundMachine = machine('request-refund', {
  pending: ['completed', 'failed'],
  completed: ['returned'],
  failed: [],
  returned: [],
})

/** Why money has not gone back, or has come back to us. */
export interface RefundFailure {
  readonly code: string
  readonly message: string
}

/** How long the request that refunds has for its call, before process or sweep ask the acquirer. */
export const FIRST_CHECK_AFTER = minutes(1)

/** The wait before the acquirer is asked again, doubling up to a day. */
export const nextCheckAfter = (attempts: number): number =>
  Math.min(FIRST_CHECK_AFTER * 2 ** Math.min(attempts, 20), minutes(1_440))

const schema = defineEntity({
  ...tenantTable('RequestRefund', 'request_refunds'),
  properties: {
    ...record('requestrefund'),
    requestId: p.text(),
    paymentId: p.text(),
    way: p.enum(paymentWays),
    status: p.enum(refundMachine.states).onCreate(() => refundMachine.initial),
    amountEuros: p.bigint().name('amount_cents'),
    reason: nullable.string(),
    failure: nullable.json<RefundFailure>(),
    /** The transfer by SEPA that takes it back. */
    transferId: nullable.string(),
    /** How often the acquirer has been asked. */
    attempts: p.integer().onCreate(() => 0),
    /** When the acquirer is asked again; null for a transfer, which reports by itself. */
    dueAt: nullable.instant(),
    completedAt: nullable.instant(),
  },
})

/** A part of one payment that goes back by the way it came. */
export class RequestRefund extends schema.class {}
schema.setClass(RequestRefund)

/** The type under which the record of a refund names the refund of a request. */
export const REFUND_SOURCE = 'request_refund'

/** The record that it has among the refunds of all payments. */
export const recordIdOf = ({ id }: Pick<RequestRefund, 'id'>): string =>
  id.replace('requestrefund_', 'refund_')

/** The cause of its hold and posting in the ledger. */
export const causeOf = ({ id }: Pick<RequestRefund, 'id'>) => ({ type: REFUND_SOURCE, id })

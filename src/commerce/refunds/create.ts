import { NextCall, type SharedStep } from '../../kernel/contract/handlers.ts'
import type { HandlerOf, InputOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { carryOutRefund, recordRefund, type StepAnswers } from '../collect/index.ts'
import type { refundsApi } from './api.ts'
import { type CreateCode, type CreateItem, decide } from './decide.ts'
import { begin, found, type Reservation } from './of-request.ts'
import { openBatch, type RefundBatch, writeBatch } from './open-batch.ts'

type Creates = typeof refundsApi.create

/** Many refunds of one payment may be asked for at once: they are decided together, under its lock. */
type Decided = Exclude<ReturnType<typeof decide>, Refusal>
const reserve: SharedStep<InputOf<Creates>, Decided, CreateCode, Creates['emits'], RefundBatch> = {
  name: 'refund',
  settles: true,
  load: (items: readonly CreateItem[], sql) => {
    const { tenant, now } = items[0] as CreateItem
    const ids = items.map(({ input }) => input.body.transactionId)
    return openBatch(sql, { tenant, now }, ids)
  },
  decide,
  write: writeBatch,
}

/** Gives back between wallets at once; asks a merchant, and waits; or takes the steps of the request that was paid. */
export const create: HandlerOf<typeof refundsApi.create> = {
  reserve,

  call: async (reservation: Reservation, outside): Promise<StepAnswers | null> =>
    'steps' in reservation ? carryOutRefund(reservation.steps, outside) : null,

  async record(answers: StepAnswers | null, reservation: Reservation, context) {
    if ('asked' in reservation) return begin(reservation.asked, context)
    if (answers) await recordRefund(answers, reservation.steps, context)
    return found(reservation.steps, context)
  },

  /** What was not begun is begun now; what has begun is followed by the process of the request. */
  async recover(reservation: Reservation, context) {
    if ('steps' in reservation) return found(reservation.steps, context)
    const begun = await begin(reservation.asked, context)
    return begun instanceof NextCall && 'steps' in begun.reservation
      ? found(begun.reservation.steps, context)
      : (begun as Exclude<typeof begun, NextCall<Reservation>>)
  },
}

import { type BatchedStep, CallExternal } from '../../kernel/contract/handlers.ts'
import type { HandlerOf, InputOf } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { carryOutRefund, recordRefund, type StepAnswers } from '../collect/index.ts'
import type { refundsApi } from './api.ts'
import { type CreateCode, type CreateItem, decide } from './decide.ts'
import { begin, found, type Reservation } from './of-request.ts'
import { openBatch, type RefundBatch, writeBatch } from './open-batch.ts'
import { type PushAnswer, push } from './push.ts'
import { foundRefund, recordPush } from './push-answer.ts'

type Creates = typeof refundsApi.create

/** What the call has come to; null where there was none to make. */
type CallAnswer =
  | { readonly of: 'request'; readonly answers: StepAnswers }
  | { readonly of: 'merchant'; readonly answer: PushAnswer }
  | null

/** Many refunds of one payment may be asked for at once: they are decided together, under its lock. */
type Decided = Exclude<ReturnType<typeof decide>, Refusal>
const reserve: BatchedStep<InputOf<Creates>, Decided, CreateCode, Creates['emits'], RefundBatch> = {
  name: 'refund',
  settles: true,
  load: (items: readonly CreateItem[], sql, ports) => {
    const { tenant, now } = items[0] as CreateItem
    const ids = items.map(({ input }) => input.body.transactionId)
    return openBatch(sql, { tenant, now, ports }, ids)
  },
  decide,
  write: writeBatch,
}

/** Gives back between wallets at once; asks a merchant, and waits; or takes the steps of the request that was paid. */
export const create: HandlerOf<typeof refundsApi.create> = {
  reserve,

  async call(reservation: Reservation, outside): Promise<CallAnswer> {
    if ('steps' in reservation)
      return { of: 'request', answers: await carryOutRefund(reservation.steps, outside) }
    return 'push' in reservation ? { of: 'merchant', answer: await push(reservation.push, outside) } : null
  },

  async record(answered: CallAnswer, reservation: Reservation, context) {
    if ('asked' in reservation) return begin(reservation.asked, context)
    if ('push' in reservation)
      return answered?.of === 'merchant'
        ? recordPush(answered.answer, reservation.push, context)
        : foundRefund(reservation.push.refundId, context)
    if (answered?.of === 'request') await recordRefund(answered.answers, reservation.steps, context)
    return found(reservation.steps, context)
  },

  /** What was not begun is begun now; what has begun is followed by the process of the request, or waits for its merchant. */
  async recover(reservation: Reservation, context) {
    if ('steps' in reservation) return found(reservation.steps, context)
    if ('push' in reservation) return foundRefund(reservation.push.refundId, context)
    const begun = await begin(reservation.asked, context)
    return begun instanceof CallExternal && 'steps' in begun.reservation
      ? found(begun.reservation.steps, context)
      : (begun as Exclude<typeof begun, CallExternal<Reservation>>)
  },
}

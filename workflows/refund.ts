import type { RefundActivities } from '../activities/refunds.ts'
import { refundSignals } from '../src/commerce/refunds/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readRefund, answerRefund, askMerchantForRefund, giveUpRefund } = stepsOf<RefundActivities>()({
  readRefund: { summary: 'How the refund stands' },
  answerRefund: { summary: 'What an operator has signalled' },
  askMerchantForRefund: {
    summary: 'The processor of the card is asked to ask the merchant: it does so once',
    timeoutMs: 60_000,
  },
  giveUpRefund: { summary: 'The merchant has not sent the money in time: it is given up' },
})

/** The merchant is asked; then the money comes in time, nobody waits for it any more, or it is given up. */
export const refund = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    read: readRefund,
    answers: answersTo(refundSignals, signalled => answerRefund({ ...input, ...signalled })),
    async story(record) {
      await record.during(
        ({ next }) => next === 'ask',
        () => askMerchantForRefund(input),
      )
      await record.during(
        ({ status, next }) => status === 'pending' && next !== 'ask',
        () => giveUpRefund(input),
      )
    },
  })

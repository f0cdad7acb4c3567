import type { CollectActivities } from '../activities/collect.ts'
import { collectSignals } from '../src/commerce/collect/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readPaymentRequest, answerPaymentRequest, expirePaymentRequest, followRefunds } =
  stepsOf<CollectActivities>()({
    readPaymentRequest: { summary: 'How the payment request stands' },
    answerPaymentRequest: { summary: 'What an operator has signalled' },
    expirePaymentRequest: { summary: 'The money has not come in time: the request ends' },
    followRefunds: { summary: 'Whether the money is back with who had paid' },
  })

/** A request is paid in time, is cancelled, or expires. It is followed again for as long as money is on its way back. */
export const collect = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    recurs: true,
    read: readPaymentRequest,
    answers: answersTo(collectSignals, signalled => answerPaymentRequest({ ...input, ...signalled })),
    async story(record) {
      await record.during(
        ({ status }) => status === 'open',
        () => expirePaymentRequest(input),
      )
      await record.during(
        ({ status, closed }) => status !== 'open' && !closed,
        () => followRefunds(input),
      )
    },
  })

import type { CollectSignal } from '../src/commerce/collect/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings, withSignalsThatCount } from './signals.ts'
import { type Run, readWith } from './support.ts'

/** Each of them can be made again: what has been done is found done. */
export const collectActivities = (run: Run, settings: SignalSettings) => {
  const step = (operation: string) => async (input: ProcessInput) => {
    await run(operation, { of: input, as: 'process', requestId: requestOf(input) })
  }
  return {
    readPaymentRequest: async (input: ProcessInput): Promise<ProcessStatus> =>
      withSignalsThatCount(await readWith(run, 'collect.status', input, requestOf(input)), input, settings),

    answerPaymentRequest: (signalled: Signalled<CollectSignal>): Promise<string> =>
      decideWith(run, settings, signalled, {
        operation: `collect.${signalled.verb}`,
        requestId: requestOf(signalled),
        body: (_by, comment) => (comment ? { comment } : {}),
      }),

    expirePaymentRequest: step('collect.expire'),
    followRefunds: step('collect.followRefunds'),
  }
}

export type CollectActivities = ReturnType<typeof collectActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:collect/${id}`

import type { RefundSignal } from '../src/commerce/refunds/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings, withSignalsThatCount } from './signals.ts'
import { type Run, readWith } from './support.ts'

/** Status of a refund, and what is done when its time has come. */
export interface RefundStatus extends ProcessStatus {
  readonly next: 'ask' | 'give up' | null
}

export const refundActivities = (run: Run, settings: SignalSettings) => ({
  readRefund: async (input: ProcessInput): Promise<RefundStatus> =>
    withSignalsThatCount(
      await readWith<RefundStatus>(run, 'refunds.status', input, requestOf(input)),
      input,
      settings,
    ),

  async askMerchantForRefund(input: ProcessInput): Promise<void> {
    await run('refunds.askMerchant', { of: input, as: 'process', requestId: requestOf(input) })
  },

  answerRefund: (signalled: Signalled<RefundSignal>): Promise<string> =>
    decideWith(run, settings, signalled, {
      operation: `refunds.${signalled.verb}`,
      requestId: requestOf(signalled),
      body: () => ({}),
    }),

  async giveUpRefund(input: ProcessInput): Promise<void> {
    await run('refunds.expire', { of: input, as: 'process', requestId: requestOf(input) })
  },
})

export type RefundActivities = ReturnType<typeof refundActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:refund/${id}`

import type { MandateSignal } from '../src/control/mandates/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings, withSignalsThatCount } from './signals.ts'
import { type Run, readWith } from './support.ts'

export const mandateActivities = (run: Run, settings: SignalSettings) => ({
  readMandate: async (input: ProcessInput): Promise<ProcessStatus> =>
    withSignalsThatCount(await readWith(run, 'mandates.status', input, requestOf(input)), input, settings),

  changeMandate: (signalled: Signalled<MandateSignal>): Promise<string> =>
    decideWith(run, settings, signalled, {
      operation: `mandates.${signalled.verb}`,
      requestId: requestOf(signalled),
      body: (_by, comment) => (comment ? { comment } : {}),
    }),

  async expireMandate(input: ProcessInput): Promise<void> {
    await run('mandates.expire', { of: input, as: 'process', requestId: requestOf(input) })
  },
})

export type MandateActivities = ReturnType<typeof mandateActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:mandate/${id}`

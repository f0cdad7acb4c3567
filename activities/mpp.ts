import type { MppSignal } from '../src/commerce/mpp/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings, withSignalsThatCount } from './signals.ts'
import { type Run, readWith } from './support.ts'

/** Status of a machine payment, the steps that were taken, and the one that is taken when its time has come. */
export interface MachinePaymentStatus extends ProcessStatus {
  readonly steps: readonly string[]
  readonly next: 'settle' | 'deleteToken' | null
}

const outcomes: Readonly<Record<MppSignal, 'paid' | 'not_paid'>> = { paid: 'paid', notPaid: 'not_paid' }

/** Each of them can be made again: what has been done is found done. None of them mints or sends. */
export const mppActivities = (run: Run, settings: SignalSettings) => {
  const step = (operation: string) => async (input: ProcessInput) => {
    await run(operation, { of: input, as: 'process', requestId: requestOf(input) })
  }
  return {
    readMachinePayment: async (input: ProcessInput): Promise<MachinePaymentStatus> =>
      withSignalsThatCount(
        await readWith<MachinePaymentStatus>(run, 'mpp.status', input, requestOf(input)),
        input,
        settings,
      ),

    resolveMachinePayment: (signalled: Signalled<MppSignal>): Promise<string> =>
      decideWith(run, settings, signalled, {
        operation: 'mpp.resolve',
        requestId: requestOf(signalled),
        body: (_by, comment) => ({
          outcome: outcomes[signalled.verb],
          ...(comment ? { comment } : {}),
        }),
      }),

    leaveOutcomeOpen: step('mpp.settle'),
    endUnpaid: step('mpp.settle'),
    deleteNetworkToken: step('mpp.deleteToken'),
  }
}

export type MppActivities = ReturnType<typeof mppActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:mpp/${id}`

import type { CardRequestSignal } from '../src/cards/card-requests/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings, withSignalsThatCount } from './signals.ts'
import { type Run, readWith } from './support.ts'

export const cardRequestActivities = (run: Run, settings: SignalSettings) => ({
  readCardRequest: async (input: ProcessInput): Promise<ProcessStatus> =>
    withSignalsThatCount(
      await readWith(run, 'cardRequests.status', input, requestOf(input)),
      input,
      settings,
    ),

  answerCardRequest: (signalled: Signalled<CardRequestSignal>): Promise<string> =>
    decideWith(run, settings, signalled, {
      operation: `cardRequests.${signalled.verb}`,
      requestId: requestOf(signalled),
      body: (by, comment) => bodyOf(signalled.verb, by, comment),
    }),

  async expireCardRequest(input: ProcessInput): Promise<void> {
    await run('cardRequests.expire', { of: input, as: 'process', requestId: requestOf(input) })
  },

  async carryOutCardRequest(input: ProcessInput): Promise<void> {
    await run('cardRequests.carryOut', { of: input, as: 'process', requestId: requestOf(input) })
  },
})

export type CardRequestActivities = ReturnType<typeof cardRequestActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:card-request/${id}`

function bodyOf(verb: CardRequestSignal, by: string, comment: string | undefined): object {
  if (verb === 'deny') return { reason: comment ?? `Denied by ${by}` }
  return comment ? { comment } : {}
}

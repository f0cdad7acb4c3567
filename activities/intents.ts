import type { ApproverSignal } from '../src/control/intents/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings } from './signals.ts'
import { lookWith, type Run } from './support.ts'

export const intentActivities = (run: Run, settings: SignalSettings) => ({
  lookAtIntent: (input: ProcessInput) => lookWith(run, 'intents.look', input, requestOf(input)),

  decideIntent: (signalled: Signalled<ApproverSignal>): Promise<string> =>
    decideWith(run, settings, signalled, {
      operation: `intents.${signalled.verb}`,
      requestId: requestOf(signalled),
      body: (by, comment) => bodyOf(signalled.verb, by, comment),
    }),

  async expireIntent(input: ProcessInput): Promise<void> {
    await run('intents.expire', { of: input, as: 'process', requestId: requestOf(input) })
  },
})

export type IntentActivities = ReturnType<typeof intentActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:intent/${id}`

function bodyOf(verb: ApproverSignal, by: string, comment: string | undefined): object {
  if (verb === 'deny') return { reason: comment ?? `Denied by ${by}` }
  return comment ? { comment } : {}
}

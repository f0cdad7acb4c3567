import type { IntentSignal } from '../src/control/intents/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings, withSignalsThatCount } from './signals.ts'
import { type Run, readWith } from './support.ts'

export const intentActivities = (run: Run, settings: SignalSettings) => {
  const readIntent = async (input: ProcessInput): Promise<ProcessStatus> =>
    withSignalsThatCount(await readWith(run, 'intents.status', input, requestOf(input)), input, settings)
  return {
    readIntent,

    decideIntent: (signalled: Signalled<IntentSignal>): Promise<string> =>
      decideWith(run, settings, signalled, {
        operation: `intents.${signalled.verb}`,
        requestId: requestOf(signalled),
        body: (by, comment) => bodyOf(signalled.verb, by, comment),
      }),

    async expireIntent(input: ProcessInput): Promise<void> {
      await run('intents.expire', { of: input, as: 'process', requestId: requestOf(input) })
    },
  }
}

export type IntentActivities = ReturnType<typeof intentActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:intent/${id}`

function bodyOf(verb: IntentSignal, by: string, comment: string | undefined): object {
  if (verb === 'deny') return { reason: comment ?? `Denied by ${by}` }
  return comment ? { comment } : {}
}

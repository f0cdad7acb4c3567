import { activityInfo, type Info } from '@temporalio/activity'
import { z } from 'zod'
import type { ApproverSignal } from '../src/control/intents/process.ts'
import { inspect } from '../src/derive/body.ts'
import type { ProcessInput } from '../src/kernel/process.ts'
import { lookWith, type Run } from './support.ts'

/** What an approver sends along: a name, proved by nothing, and why. */
const Payload = z.strictObject({
  by: z.string().trim().min(1).max(200),
  comment: z.string().trim().min(1).max(1_000).optional(),
})

interface Settings {
  /** Whether signals from the Web UI decide about live money too. */
  readonly operatorSignals: boolean
}

export interface Signalled extends ProcessInput {
  readonly verb: ApproverSignal
  readonly payload: unknown
}

export const intentActivities = (run: Run, { operatorSignals }: Settings) => ({
  lookAtIntent: (input: ProcessInput) => lookWith(run, 'intents.look', input, requestOf(input)),

  /** The same guarded operation as in the API; gives the line that the operator reads. */
  async decideIntent({ verb, payload, ...input }: Signalled): Promise<string> {
    const read = readPayload(payload)
    if (!read) return `A signal ${verb} was ignored: send {"by": "your name", "comment": "why"}.`
    if (input.mode === 'live' && !operatorSignals)
      return `A signal ${verb} was ignored: OPERATOR_SIGNALS is off, and this is live money.`
    const { by, comment } = read
    const { refused } = await run(`intents.${verb}`, {
      of: input,
      as: { operator: by },
      requestId: requestOf(input),
      body: bodyOf(verb, by, comment),
      once: onceOf(activityInfo()),
    })
    return refused
      ? `The signal ${verb} by ${by} changed nothing: ${refused}`
      : `Signal ${verb} by ${by}: done.`
  },

  async expireIntent(input: ProcessInput): Promise<void> {
    await run('intents.expire', { of: input, as: 'process', requestId: requestOf(input) })
  },
})

export type IntentActivities = ReturnType<typeof intentActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:intent/${id}`

/** An attempt whose answer was lost has done its work: the next one is told what it was. */
const onceOf = ({ workflowExecution, activityId }: Info): string =>
  `${workflowExecution?.runId}/${activityId}`

/** Undefined where it is not what was asked for. */
function readPayload(payload: unknown): z.output<typeof Payload> | undefined {
  try {
    inspect(payload)
    return Payload.parse(payload)
  } catch {
    return undefined
  }
}

function bodyOf(verb: ApproverSignal, by: string, comment: string | undefined): object {
  if (verb === 'deny') return { reason: comment ?? `Denied by ${by}` }
  return comment ? { comment } : {}
}

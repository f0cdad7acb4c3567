import type { CommandContext, CustomCommand } from '../context.ts'
import { exitCodes, usageError } from '../io.ts'

export const signalCommand: CustomCommand = {
  name: 'signal',
  summary: 'Decide about a run in Temporal, as its operator',
  description:
    'Sends an update and prints its answer: the status of the record, or why nothing was changed. A name that the run does not take is refused with those that it takes. Calls the Temporal CLI with the server of the sandbox that runs, or that of TEMPORAL_ADDRESS, and shows the line that it runs. What each kind of run takes is in docs/reference/processes.md.',
  arguments: {
    '<workflow>': 'The id of the run: the `workflowId` of a record.',
    '<name>': 'The update or signal: `approve`, `deny`, `cancel`, …',
  },
  options: {
    by: { type: 'string', value: '<name>', description: 'Who decides, as the record shows it.' },
    reason: { type: 'string', value: '<text>', description: 'Why.' },
    input: { type: 'string', value: '<json>', description: 'Another payload, instead of --by and --reason.' },
  },
  examples: [
    'agentpay signal intent/intent_01jd8x2m4ye7k9v0c3q5r6t8wz approve --by Ada --reason fine',
    'agentpay signal webhook/delivery_01jd8x2m4ye7k9v0c3q5r6t8wz retryNow',
  ],
  async run(context) {
    const [workflow = '', name = ''] = context.arguments
    if (!/^[a-z-]+\/\w+$/.test(workflow))
      throw usageError(
        `${workflow} is not the id of a run, which consists of a kind and a record. Write one such as intent/intent_…`,
      )
    const { askRun } = await import('../signals/ask-run.ts')
    const reply = await askRun({ workflow, name, payload: payloadOf(context) }, context)
    if (reply === 'signalled') context.note(`${name} was sent to ${workflow}.`)
    else if ('answer' in reply) context.print(reply.answer)
    else context.fail(exitCodes.refused, reply.failed)
    return exitCodes.done
  },
}

function payloadOf({ options: { by, reason, input } }: CommandContext): string | undefined {
  if (input === undefined) {
    const said = Object.entries({ by, reason }).filter(([, text]) => text !== undefined)
    return said.length === 0 ? undefined : JSON.stringify(Object.fromEntries(said))
  }
  if (by !== undefined || reason !== undefined)
    throw usageError('--input is the whole payload. Omit --by and --reason.')
  try {
    return JSON.stringify(JSON.parse(String(input)))
  } catch {
    throw usageError('--input is not JSON. Write it such as \'{"by":"Ada"}\'.')
  }
}

import type { CommandContext, CustomCommand } from '../context.ts'
import { exitCodes, usageError } from '../io.ts'

/** In milliseconds; unlimited by default, as an intent expires by itself. */
function longest({ options: { timeout } }: CommandContext): number {
  if (timeout === undefined) return Number.POSITIVE_INFINITY
  if (!/^\d{1,6}$/.test(String(timeout)))
    throw usageError('--timeout is not a number of whole seconds. Write one such as 600.')
  return Number(timeout) * 1_000
}

export const waitForIntentCommand: CustomCommand = {
  noun: 'intents',
  name: 'wait',
  summary: 'Wait until an intent is decided',
  description:
    'Exits with 0 once the intent is approved or completed, and with 1 if it is denied, cancelled or expired, or not decided in time.',
  arguments: { '<id>': 'The intent.' },
  options: {
    timeout: { type: 'string', value: '<seconds>', description: 'Give up after this many seconds.' },
  },
  examples: ['agentpay intents wait intent_01jd8x2m4ye7k9v0c3q5r6t8wz --timeout 600'],
  async run(context) {
    const [id = ''] = context.arguments
    const mostMs = longest(context)
    const { reportDecision, waitForDecision: untilDecided } = await import('../decisions.ts')
    const intent = await untilDecided(context, id, mostMs)
    if (intent) return reportDecision(intent, context)
    return context.fail(
      exitCodes.refused,
      `${id} is still waiting for a decision after ${context.options.timeout} seconds.`,
    )
  },
}

import type { CustomCommand } from '../context.ts'

export const tailEventsCommand: CustomCommand = {
  noun: 'events',
  name: 'tail',
  summary: 'Show events as they happen',
  description:
    'Follows events from now on until you interrupt it, and then exits with 0. A broken connection resumes after the last event. Terminals get a line per event, pipes a line of JSON.',
  arguments: { '[agent]': 'Only events of this agent.' },
  options: {
    type: {
      type: 'string',
      multiple: true,
      value: '<event>',
      isEvents: true,
      description: 'Only events with this name, such as agent.frozen (repeatable, or separated by commas).',
    },
    agent: { type: 'string', value: '<id>', description: 'The same as the argument.' },
  },
  examples: [
    'agentpay events tail',
    'agentpay events tail --type intent.created,intent.approved',
    'agentpay events tail agent_01jd8x2m4ye7k9v0c3q5r6t8wz',
    "agentpay events tail --json | jq -r '.data.agentId'",
  ],
  async run(context) {
    const { tailEvents: tail } = await import('../events/tail.ts')
    return tail(context)
  },
}

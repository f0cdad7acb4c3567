import type { CustomCommand } from '../context.ts'

export const tailEvents: CustomCommand = {
  noun: 'events',
  name: 'tail',
  summary: 'Show what happens, as it happens',
  description:
    'Follows the events from now on, until you interrupt it: then it ends with 0. A connection that breaks is made again behind the last event. A terminal gets a line for each, a pipe a line of JSON.',
  options: {
    type: {
      type: 'string',
      multiple: true,
      value: '<event>',
      isEvents: true,
      description:
        'Only events of this name, such as agent.frozen; several are repeated, or have commas between them.',
    },
    agent: { type: 'string', value: '<id>', description: 'Only what happens to this agent.' },
  },
  examples: [
    'agentpay events tail',
    'agentpay events tail --type intent.created,intent.approved',
    "agentpay events tail --json | jq -r '.data.agentId'",
  ],
  async run(context) {
    const { tail } = await import('../events/tail.ts')
    return tail(context)
  },
}

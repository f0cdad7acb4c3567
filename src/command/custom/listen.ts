import type { CustomCommand } from '../context.ts'

export const listenCommand: CustomCommand = {
  noun: 'webhooks',
  name: 'listen',
  summary: 'Deliver webhooks to a receiver on this machine',
  description:
    'Sends new events to the receiver as webhooks, signed as the service signs them, with a secret of this run or that in AGENTPAY_WEBHOOK_SECRET. It creates no subscription and opens no port. A failed delivery is attempted three times.',
  options: {
    forward: { type: 'string', value: '<url>', description: 'The address of the receiver.' },
    events: {
      type: 'string',
      multiple: true,
      value: '<event>',
      isEvents: true,
      description: 'Only events with these names (repeatable, or separated by commas). Default: all.',
    },
    after: {
      type: 'string',
      value: '<event id>',
      description: 'Start after this event instead of now.',
    },
    count: { type: 'string', value: '<number>', description: 'Exit with 0 after this many events.' },
    'allow-remote': {
      type: 'boolean',
      description: 'Allow a receiver on another machine, which then gets everything that your key can read.',
    },
  },
  examples: [
    'agentpay webhooks listen --forward http://localhost:3000',
    'agentpay webhooks listen --forward http://localhost:3000/hooks --events transaction.completed,agent.frozen',
  ],
  async run(context) {
    const { forwardWebhooks: listenFor } = await import('../webhooks/listen.ts')
    return listenFor(context)
  },
}

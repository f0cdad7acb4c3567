import type { CustomCommand } from '../context.ts'

export const listen: CustomCommand = {
  noun: 'webhooks',
  name: 'listen',
  summary: 'Deliver webhooks to a receiver on this machine',
  description:
    'What happens from now on is sent to the receiver as a webhook, signed as the service signs it, with a secret of this run or with that in AGENTPAY_WEBHOOK_SECRET. Nothing is subscribed, and no address is open to the network. What fails is sent three times.',
  options: {
    forward: { type: 'string', value: '<url>', description: 'The address of the receiver.' },
    events: {
      type: 'string',
      multiple: true,
      value: '<event>',
      isEvents: true,
      description:
        'Only events of these names, repeated or with commas between them; without it all of them.',
    },
    after: {
      type: 'string',
      value: '<event id>',
      description: 'Begin with what happened after this event, in place of now.',
    },
    count: { type: 'string', value: '<number>', description: 'End after so many events, with 0.' },
    'allow-remote': {
      type: 'boolean',
      description: 'Let the receiver be on another machine: it reads all that your key may read.',
    },
  },
  examples: [
    'agentpay webhooks listen --forward http://localhost:3000',
    'agentpay webhooks listen --forward http://localhost:3000/hooks --events transaction.completed,agent.frozen',
  ],
  async run(context) {
    const { listenFor } = await import('../webhooks/listen.ts')
    return listenFor(context)
  },
}

import { event } from '../../kernel/contract/events.ts'
import { AgentEvent } from '../agents/index.ts'
import { riskEvents } from '../risk/index.ts'
import { IntentEvent } from './schemas.ts'

/** The events that declaring an intent can cause. */
export const declareEvents = {
  'intent.created': event('An agent has declared an intent to spend.', IntentEvent),
  'intent.approved': event(
    'A policy, a mandate or a person has approved an intent: it can be paid.',
    IntentEvent,
  ),
  'intent.denied': event('A policy or a person has denied an intent.', IntentEvent),
  'agent.frozen': AgentEvent,
  ...riskEvents,
}

import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { agentTokenRevokedEvent } from '../agent-tokens/index.ts'
import { IntentEvent } from '../intents/index.ts'
import { mandateRevokedEvent } from '../mandates/index.ts'
import { grantEndReasons, type OauthGrant } from './grant.ts'

const AssistantEvent = z.object({
  assistantId: id('assistant'),
  agentId: id('agent'),
  personId: id('person'),
  mandateId: id('mandate').nullable(),
  clientHost: z.string().max(300).nullable().meta({ description: 'Null: nothing proves who the client is.' }),
  scopes: z.array(z.string()),
  expiresAt: instant,
  endedBecause: z.enum(grantEndReasons).nullable(),
})

export const assistantEvents = {
  'assistant.registered': declareEvent(
    'A client of assistants has registered itself.',
    z.object({ clientId: id('client') }),
  ),
  'assistant.approved': declareEvent('A person has approved an assistant for an agent.', AssistantEvent),
  'assistant.connected': declareEvent('An assistant has its tokens.', AssistantEvent),
  'assistant.disconnected': declareEvent(
    'An assistant has lost its access: its mandate is revoked, and its open intents are cancelled.',
    AssistantEvent,
  ),
}

export const endedGrantEvents = {
  'assistant.disconnected': assistantEvents['assistant.disconnected'],
  ...agentTokenRevokedEvent,
  ...mandateRevokedEvent,
  'intent.cancelled': IntentEvent,
}

export const assistantEvent = ({
  id: assistantId,
  agentId,
  personId,
  mandateId,
  clientHost,
  scopes,
  expiresAt,
  endedBecause,
}: OauthGrant): z.output<typeof AssistantEvent> => ({
  assistantId,
  agentId,
  personId,
  mandateId,
  clientHost,
  scopes,
  expiresAt,
  endedBecause,
})

import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { recordHead, recordTail } from '../../values/schemas.ts'
import { agentCredentialMachine } from './agent-credential.ts'

export const status = z.enum(agentCredentialMachine.states)

export const AgentCredentialRecord = z
  .object({
    ...recordHead('agentcredential'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent').nullable(),
    mppCredentialId: id('mppcredential').nullable().meta({
      description:
        'The machine payment that it is for, and for nothing else. Its merchant alone has the token.',
    }),
    cardId: id('card'),
    status,
    merchantScope: z.array(z.string()).meta({ examples: [['*.example.com']] }),
    amountLimitEuros: euros,
    spentEuros: euros.meta({ description: 'What it has paid, and what is authorized.' }),
    maxCharges: z.int().nullable(),
    charges: z.int(),
    expiresAt: instant,
    revokedAt: instant.nullable(),
    last4: z
      .string()
      .nullable()
      .meta({ description: 'The end of the network token.', examples: ['4242'] }),
    processorProblem: z.string().nullable().meta({
      description:
        'Why the processor has not made it so. What the service itself enforces holds all the same; repeat the operation.',
    }),
    accessEventId: id('accessevent'),
    keyThumbprint: z.string().meta({ examples: ['cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s'] }),
    ...recordTail,
  })
  .meta({ id: 'AgentCredential' })

const AgentCredentialEvent = z.object({
  agentCredentialId: id('agentcredential'),
  agentId: id('agent'),
  intentId: id('intent').nullable(),
  cardId: id('card'),
  status,
  amountLimitEuros: euros,
})

const ChargeEvent = z.object({
  agentCredentialId: id('agentcredential'),
  mppCredentialId: id('mppcredential').nullable(),
  agentId: id('agent'),
  intentId: id('intent').nullable(),
  cardId: id('card'),
  status,
  amountEuros: euros,
  transactionId: id('txn').nullable(),
})

/** What the card network says of payments by network tokens. */
export const chargeEvents = {
  'agent_credential.charged': event(
    'The card network has authorized or cleared a payment by a network token.',
    ChargeEvent,
  ),
  'agent_credential.declined': event(
    'A payment by a network token was declined, or its approval was taken back, reversed or has run out.',
    ChargeEvent,
  ),
}

/** An event's sentence for each change of state. */
export const agentCredentialEvents = {
  'agent_credential.created': event('A network token has been asked of the processor.', AgentCredentialEvent),
  'agent_credential.issued': event(
    'An agent has a network token with limits of its own.',
    AgentCredentialEvent,
  ),
  'agent_credential.failed': event('The processor has given no network token.', AgentCredentialEvent),
  'agent_credential.suspended': event(
    'A network token pays nothing until it is resumed.',
    AgentCredentialEvent,
  ),
  'agent_credential.resumed': event('A network token that was suspended pays again.', AgentCredentialEvent),
  'agent_credential.revoked': event('A network token pays nothing any more.', AgentCredentialEvent),
  'agent_credential.expired': event('The time of a network token is over.', AgentCredentialEvent),
}

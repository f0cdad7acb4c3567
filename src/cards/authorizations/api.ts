import { z } from 'zod'
import { AgentEvent } from '../../control/agents/index.ts'
import { riskEvents } from '../../control/risk/index.ts'
import { get, list, missing, post } from '../../kernel/contract/operation.ts'
import { withoutCardNumbers } from '../../values/card-number.ts'
import { id } from '../../values/ids.ts'
import { searchText, timeRange } from '../../values/schemas.ts'
import { messagesApi } from './messages-api.ts'
import {
  AuthorizationExplanation,
  AuthorizationRecord,
  SimulatedAnswer,
  SimulatedRequest,
  status,
} from './schemas.ts'

const card_not_found = missing('card')
const authorization_not_found = missing('authorization')
const reading = { callers: ['key', 'agent'], scope: 'cards:read' } as const

const doorDescription = [
  'The door for what the card processor sends: requests that it asks the service to decide, and facts that it reports. The signature over the raw body is checked before anything is read; valid ones stand outside the rate limit.',
  'A request for authorization is decided within `CARD_ANSWER_MS`: by the card, the agent’s policy, the controls of the card, the risk, and the intent that covers it. What cannot be decided by then is declined, and leaves nothing. A message that comes again is answered with the same bytes. Facts are booked in whatever order they come: the money is taken from what is held, then from the wallet; what is not there the owner owes.',
].join('\n\n')

export const authorizationsApi = {
  ...messagesApi,
  receive: post('/rails/card-processor', {
    summary: 'Take a signed message of the card processor',
    description: doorDescription,
    callers: ['signed'],
    body: z.strictObject({}),
    returns: [200, z.object({})],
    emits: { ...messagesApi.take.emits, ...riskEvents, 'agent.frozen': AgentEvent },
  }),
  list: list('/cards/{id}/authorizations', {
    ...reading,
    summary: 'List the authorizations of a card',
    description: 'Newest first: every payment that the network has asked for or told of, declined ones too.',
    filters: {
      status: status.optional(),
      intentId: id('intent').optional(),
      merchant: searchText,
      ...timeRange,
    },
    item: AuthorizationRecord,
    fails: { card_not_found },
  }),
  get: get('/cards/{id}/authorizations/{authorizationId}', {
    ...reading,
    summary: 'Get an authorization of a card',
    returns: [200, AuthorizationRecord],
    fails: { authorization_not_found },
  }),
  explanation: get('/cards/{id}/authorizations/{authorizationId}/explanation', {
    ...reading,
    summary: 'Explain an authorization',
    description:
      'Every rule in words, what paid or would have paid, and what would make a decline a yes. The network’s id, which `POST /simulate/card/authorize` answers, finds it, too.',
    returns: [200, AuthorizationExplanation],
    fails: { authorization_not_found },
  }),
  simulate: post('/cards/{id}/authorizations/simulate', {
    ...reading,
    summary: 'Ask how a payment by card would be answered',
    description:
      'The same code decides as when the network asks, and nothing is stored or held. The answer names the intent that would cover the payment, and what would pay.',
    readOnly: true,
    readsClock: true,
    body: withoutCardNumbers(SimulatedRequest),
    example: { amountEuros: 25, merchant: 'SQ *BOOKSHOP 1234 BERLIN', mcc: '5942', country: 'DE' },
    returns: [200, SimulatedAnswer],
    fails: { card_not_found },
  }),
}

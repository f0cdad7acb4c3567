import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { agent_required, get, list, missing, post } from '../../kernel/contract/operation.ts'
import { TimelineEntry } from '../../kernel/journal/timeline.ts'
import { id } from '../../values/ids.ts'
import { positiveEuros } from '../../values/money.ts'
import {
  country,
  freeText,
  label,
  metadata,
  ownAgent,
  ProcessStatusRecord,
  searchText,
  timeRange,
} from '../../values/schemas.ts'
import { AgentEvent } from '../agents/index.ts'
import { riskEvents } from '../risk/index.ts'
import {
  cancelRefusals,
  decisionRefusals,
  levelRefusals,
  lookupRefusals,
  payee_mismatch,
  runRefusals,
} from './refusals.ts'
import {
  hasOnePayee,
  hasPayee,
  IntentEvent,
  IntentRecord,
  mcc,
  merchant,
  payeeAmbiguous,
  payeeMissing,
  status,
} from './schemas.ts'

const IntentCreate = z
  .strictObject({
    agentId: ownAgent,
    amountEuros: positiveEuros(),
    merchant,
    purpose: freeText.min(1).meta({ examples: ['A paper on caching'] }),
    mcc: mcc.nullable().default(null),
    country: country.nullable().default(null),
    beneficiaryId: id('beneficiary')
      .nullable()
      .default(null)
      .meta({ description: 'Whom it pays by SEPA, where it is paid by a transfer.' }),
    walletId: id('wallet')
      .nullable()
      .default(null)
      .meta({ description: 'The wallet of yours that it pays, where it is paid by a transfer.' }),
    cardId: id('card').nullable().default(null),
    runId: id('run').nullable().default(null),
    clientIntentId: label
      .nullable()
      .default(null)
      .meta({ description: 'Your own name for it; unique for the agent.' }),
    expiresInMinutes: z.int().min(1).max(43_200).default(1_440).meta({ description: 'Its deadline.' }),
    metadata: metadata.default({}),
  })
  .refine(hasPayee, payeeMissing)
  .refine(hasOnePayee, payeeAmbiguous)

export const intentsApi = {
  create: post('/intents', {
    summary: 'Declare an intent to spend',
    description:
      'Who is paid is `merchant`, or the record that `beneficiaryId` or `walletId` names: its name, its IBAN and a beneficiary’s country are what every rule is asked about. What the agent’s policy approves by itself is `approved` at once: its amount, and what the policy tolerates above it, is held in the agent’s wallet and counted towards its limits. What is against the rules is `denied`, and so is what the wallet has too little for. The rest is `created`, reserves nothing, and waits for a person until its deadline. One like another of the same run (the same merchant and amount within ten minutes) is `possibleDuplicateOf` that one and always waits for a person. How unusual it is for the agent can ask for one, too, refuse it, or freeze the agent: see `PUT /risk/config`.',
    callers: ['key', 'agent'],
    scope: 'intents:write',
    run: 'hot',
    body: IntentCreate,
    example: {
      agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      amountEuros: 25,
      merchant: 'Bookshop',
      purpose: 'A paper on caching',
    },
    returns: [201, IntentRecord],
    fails: {
      agent_required,
      agent_not_found: missing('agent'),
      agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
      wallet_not_found: [404, 'walletId: no such wallet.'],
      beneficiary_not_found: [404, 'beneficiaryId: no such beneficiary.'],
      payee_mismatch,
      card_not_found: [404, 'cardId: no such card.'],
      ...runRefusals,
      ...levelRefusals,
      client_intent_id_taken: [409, 'clientIntentId: another intent of the agent has it.'],
    },
    emits: {
      'intent.created': event('An agent has declared that it wants to spend.', IntentEvent),
      'intent.approved': event(
        'An intent may be carried out: a policy or a person has said yes.',
        IntentEvent,
      ),
      'intent.denied': event(
        'An intent may not be carried out: a policy or a person has said no.',
        IntentEvent,
      ),
      'agent.frozen': AgentEvent,
      ...riskEvents,
    },
  }),
  list: list('/intents', {
    summary: 'List intents',
    callers: ['key', 'agent'],
    scope: 'intents:read',
    filters: {
      status: status.optional(),
      agentId: id('agent').optional(),
      merchant: searchText,
      clientIntentId: searchText,
      runId: id('run').optional(),
      ...timeRange,
    },
    item: IntentRecord,
  }),
  get: get('/intents/{id}', {
    summary: 'Get an intent',
    callers: ['key', 'agent'],
    scope: 'intents:read',
    returns: [200, IntentRecord],
    fails: lookupRefusals,
  }),
  approve: post('/intents/{id}/approve', {
    summary: 'Approve an intent',
    description:
      'The policy is asked again, as it is at this moment: a person says yes within its limits, not beyond them. The amount, and what is tolerated above it, is held in the agent’s wallet and counted towards the limits from then on. Where it is refused, the intent goes on waiting.',
    callers: ['key'],
    scope: 'intents:approve',
    run: 'hot',
    body: z.strictObject({ comment: freeText.nullable().default(null) }),
    example: { comment: 'Go ahead' },
    returns: [200, IntentRecord],
    fails: {
      ...decisionRefusals,
      agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
      insufficient_funds: [400, 'There is not enough in the agent’s wallet.'],
      wallet_frozen: [400, 'The agent’s wallet is frozen: unfreeze it first.'],
      attestation_required: [400, 'The agent’s policy asks for an approval with a passkey.'],
      ...levelRefusals,
      against_policy: [400, 'The agent’s policy does not allow it at this moment.'],
    },
    emits: { 'intent.approved': IntentEvent },
  }),
  deny: post('/intents/{id}/deny', {
    summary: 'Deny an intent',
    callers: ['key'],
    scope: 'intents:approve',
    body: z.strictObject({ reason: freeText.min(1) }),
    example: { reason: 'Too expensive' },
    returns: [200, IntentRecord],
    fails: decisionRefusals,
    emits: { 'intent.denied': IntentEvent },
  }),
  cancel: post('/intents/{id}/cancel', {
    summary: 'Cancel an intent',
    description:
      'While it waits, and after its approval for as long as no payment on it is under way. A `comment` takes the place of the one it has.',
    callers: ['key', 'agent'],
    scope: 'intents:write',
    body: z.strictObject({ comment: freeText.nullable().default(null) }),
    example: { comment: 'No longer needed' },
    returns: [200, IntentRecord],
    fails: cancelRefusals,
    emits: {
      'intent.cancelled': event(
        'An intent has been taken back, alone or with its agent or delegation.',
        IntentEvent,
      ),
    },
  }),
  timeline: list('/intents/{id}/timeline', {
    summary: 'What happened to an intent and to its payment, and who did it',
    description:
      'The oldest first. What became of its payment is there too: that it was rejected, or came back, and why.',
    callers: ['key', 'agent'],
    scope: 'intents:read',
    item: TimelineEntry,
    fails: lookupRefusals,
  }),
  /** The process of the intent reads this whenever the intent has changed. */
  status: get('/intents/{id}/status', {
    summary: 'How an intent stands',
    callers: [],
    returns: [200, ProcessStatusRecord],
    fails: lookupRefusals,
  }),
  /** Changes nothing before the deadline, by the tenant's clock, and nothing when it is repeated. */
  expire: post('/intents/{id}/expire', {
    summary: 'End an intent whose deadline has passed',
    callers: [],
    run: 'hot',
    returns: [200, z.object({ expired: z.boolean() })],
    fails: lookupRefusals,
    emits: { 'intent.expired': event('The deadline of an intent has passed.', IntentEvent) },
  }),
  /** A step in the deletion of an agent: cancels a batch of its intents, and is repeated until none is open. */
  endForAgent: post('/agents/{id}/end-intents', {
    summary: 'Cancel what is open of an agent that is being deleted',
    callers: [],
    returns: [200, z.object({ done: z.boolean() })],
    emits: { 'intent.cancelled': IntentEvent },
  }),
}

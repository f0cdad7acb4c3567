import { z } from 'zod'
import { approverRefusals } from '../../identity/approvals/index.ts'
import { assertionEvents, webauthnAssertionSchema } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { pageQuerySchema } from '../../kernel/contract/page.ts'
import { step } from '../../kernel/contract/step.ts'
import { TimelinePage } from '../../kernel/journal/timeline.ts'
import { purseRefusal } from '../../money/wallets/index.ts'
import { id } from '../../values/ids.ts'
import { positiveMoneySchema } from '../../values/money.ts'
import {
  agentIdSchema,
  countrySchema,
  freeTextSchema,
  inputMetadataSchema,
  labelSchema,
  searchTextSchema,
  timeRangeMembers,
} from '../../values/schemas.ts'
import { AgentEvent } from '../agents/index.ts'
import { riskEvents } from '../risk/index.ts'
import {
  budgetLevelRefusals,
  declareIntentRefusals,
  hasOnePayee,
  hasPayee,
  IntentApprovalEvent,
  IntentEvent,
  IntentRecord,
  intentCancelRefusals,
  intentDecisionRefusals,
  intentLookupRefusals,
  intentMerchantSchema,
  intentStatusSchema,
  mccSchema,
  payeeAmbiguousIssue,
  payeeMismatchRefusal,
  payeeMissingIssue,
  payeeRequestRefusals,
  paymentRequestIdSchema,
  signatureRefusals,
} from './schemas.ts'

const approvalEvents = {
  'intent.approval_recorded': declareEvent(
    'A person has approved an intent that needs further approvals.',
    IntentApprovalEvent,
  ),
  'intent.approval_escalated': declareEvent(
    'A step of the approval has ended incomplete, or too few people were left: the people of the next step are asked as well.',
    IntentApprovalEvent,
  ),
}

export const declareEvents = {
  'intent.created': declareEvent('An agent has declared an intent to spend.', IntentEvent),
  'intent.approved': declareEvent(
    'A policy, a mandate or a person has approved an intent: it can be paid.',
    IntentEvent,
  ),
  'intent.denied': declareEvent('A policy or a person has denied an intent.', IntentEvent),
  'agent.frozen': AgentEvent,
  ...riskEvents,
}

const IntentCreate = z
  .strictObject({
    agentId: agentIdSchema,
    amountCents: positiveMoneySchema(),
    merchant: intentMerchantSchema,
    purpose: freeTextSchema.min(1).meta({ examples: ['A paper on caching'] }),
    mcc: mccSchema.nullable().default(null),
    country: countrySchema.nullable().default(null),
    beneficiaryId: id('beneficiary')
      .nullable()
      .default(null)
      .meta({ description: 'The payee of a SEPA transfer.' }),
    walletId: id('wallet')
      .nullable()
      .default(null)
      .meta({ description: 'The payee of a transfer to one of your wallets.' }),
    requestId: paymentRequestIdSchema,
    cardId: id('card')
      .nullable()
      .default(null)
      .meta({ description: 'The card that will pay: its limits and controls apply, too.' }),
    runId: id('run').nullable().default(null),
    clientIntentId: labelSchema
      .nullable()
      .default(null)
      .meta({ description: 'Your own ID for the intent. Unique per agent.' }),
    expiresInMinutes: z
      .int()
      .min(1)
      .max(43_200)
      .default(1_440)
      .meta({ description: 'Minutes until the intent expires.' }),
    metadata: inputMetadataSchema.default({}),
  })
  .refine(hasPayee, payeeMissingIssue)
  .refine(hasOnePayee, payeeAmbiguousIssue)

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'intents:read' })
const writers = operationsFor({ callers: ['key', 'agent'], scope: 'intents:write' })
const approvers = operationsFor({ callers: ['key'], scope: 'intents:approve' })

export const intentsApi = {
  create: writers.post('/intents', {
    summary: 'Declare an intent to spend',
    tool: {
      name: 'declare_intent',
      isCommon: true,
      use: 'Use it before every payment: state what to buy, from which merchant and for how much. Approved: pay now. Created: a person decides, at the URL in the answer; call wait_for_intent. Denied: follow the remedies. It pays nothing by itself.',
    },
    description:
      'An agent states what it wants to pay, and gets a decision.\n\nThe payee is `merchant`, or the record that `beneficiaryId`, `walletId` or `requestId` names: the rules then judge that record’s name, IBAN and country. A payment request may be another owner’s; it must be open, and the amount must be its outstanding amount.\n\nAn intent that the agent’s policy approves is `approved` at once: its amount, plus the policy’s tolerance, is held in the agent’s wallet and counts towards the limits. An intent against the rules, or with too little money in the wallet, is `denied`.\n\nAn intent that would wait only because of its amount is approved if it is within an active mandate of the agent (`POST /mandates`): `decidedBy` is then the mandate. Every other intent is `created`: it reserves nothing and waits for a person until its deadline. So does every intent that a person declares in the console.\n\nAn intent with the merchant and amount of another one in the same run within ten minutes is `possibleDuplicateOf` that one and always waits for a person. An intent that is unusual for the agent can wait for a person, be denied, or freeze the agent: see `PUT /risk/config`.',
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
      ...declareIntentRefusals,
      wallet_not_found: [404, 'walletId: no such wallet.'],
      wallet_of_card: purseRefusal('walletId'),
      beneficiary_not_found: [404, 'beneficiaryId: no such beneficiary.'],
      ...payeeRequestRefusals,
      payee_mismatch: payeeMismatchRefusal,
      client_intent_id_taken: [
        409,
        'clientIntentId: another intent of the agent already uses it. Choose a different one.',
      ],
    },
    emits: declareEvents,
  }),
  list: readers.list('/intents', {
    summary: 'List intents',
    tool: {
      name: 'list_intents',
      isCommon: true,
      use: 'Use it to see declared intents and their status, newest first. Do not declare an intent twice.',
    },
    filters: {
      status: intentStatusSchema.optional(),
      agentId: id('agent').optional(),
      merchant: searchTextSchema,
      clientIntentId: searchTextSchema,
      runId: id('run').optional(),
      tokenId: id('token').optional().meta({ description: 'The assistant’s, or one with a budget.' }),
      ...timeRangeMembers,
    },
    item: IntentRecord,
  }),
  get: readers.getOne('/intents/{id}', 'an intent', IntentRecord, intentLookupRefusals),
  approve: approvers.post('/intents/{id}/approve', {
    summary: 'Approve an intent',
    description:
      'In the console, a person approves with a passkey. A key can send a person’s passkey signature along, and must do so if the policy requires it.\n\n`POST /passkeys/intents/{intentId}/challenge` returns what to sign, and `GET /intents/{id}/approval` the proof afterwards. A signature can be used in one request only, even if the request fails. The current policy decides again: a person approves within its limits, not beyond them. From the approval on, the amount and its tolerance are held in the agent’s wallet and count towards the limits. If the approval is refused, the intent still waits.',
    run: 'hot',
    signature: { challenge: '/passkeys/intents/{id}/challenge', asks: {}, always: true },
    body: z.strictObject({
      comment: freeTextSchema.nullable().default(null),
      webauthnAssertion: webauthnAssertionSchema.optional(),
    }),
    example: { comment: 'Go ahead' },
    returns: [200, IntentRecord],
    fails: {
      ...intentDecisionRefusals,
      ...signatureRefusals,
      ...approverRefusals,
      agent_not_active: [400, 'The agent is frozen or being deleted: it cannot spend.'],
      insufficient_funds: [400, 'The balance of the agent’s wallet is too low. Fund the wallet first.'],
      wallet_frozen: [400, 'The agent’s wallet is frozen: unfreeze it first.'],
      attestation_required: [400, 'The agent’s policy requires an approval with a passkey.'],
      ...budgetLevelRefusals,
      against_policy: [400, 'The agent’s policy does not allow the intent at the moment.'],
    },
    emits: {
      'intent.approved': IntentEvent,
      'intent.approval_reminder': IntentApprovalEvent,
      ...approvalEvents,
      ...assertionEvents,
    },
  }),
  deny: approvers.post('/intents/{id}/deny', {
    summary: 'Deny an intent',
    body: z.strictObject({ reason: freeTextSchema.min(1) }),
    example: { reason: 'Too expensive' },
    returns: [200, IntentRecord],
    fails: intentDecisionRefusals,
    emits: { 'intent.denied': IntentEvent },
  }),
  cancel: writers.post('/intents/{id}/cancel', {
    summary: 'Cancel an intent',
    tool: {
      name: 'cancel_intent',
      isCommon: true,
      isFinal: true,
      use: 'Use it when an unpaid intent is no longer needed: its held money is released. A paid intent cannot be cancelled.',
    },
    description:
      'An intent can be cancelled while it waits, or while it is approved without a pending payment. A `comment` replaces the current one.',
    run: 'hot',
    body: z.strictObject({ comment: freeTextSchema.nullable().default(null) }),
    example: { comment: 'No longer needed' },
    returns: [200, IntentRecord],
    fails: intentCancelRefusals,
    emits: {
      'intent.cancelled': declareEvent(
        'An intent has been cancelled, by itself or with its agent or delegation.',
        IntentEvent,
      ),
    },
  }),
  timeline: readers.get('/intents/{id}/timeline', {
    summary: 'Get the timeline of an intent',
    description: 'Oldest first: every change of the intent and of its payments, with who made it and why.',
    query: pageQuerySchema({}),
    returns: [200, TimelinePage],
    fails: intentLookupRefusals,
  }),
}

export const intentSteps = {
  /** Does nothing before the reminder is due. */
  remind: step('intents.remind', {
    summary: 'Remind the people who are asked to approve',
    emits: {
      'intent.approval_reminder': declareEvent(
        'An intent still waits for approvals: at half of the time of the step, an hour before its end, and once people are asked anew: the policy’s steps, what people sign or who approves have changed, or the agent was unfrozen.',
        IntentApprovalEvent,
      ),
    },
  }),
  /** Does nothing while the step has time and enough people. */
  endStep: step('intents.endStep', {
    summary: 'End a step of the approval that was not complete in time: ask the next people, or deny',
    emits: {
      'intent.approval_escalated': IntentApprovalEvent,
      'intent.approval_reminder': IntentApprovalEvent,
      'intent.denied': IntentEvent,
    },
  }),
  cancelForAgent: step('intents.endForAgent', {
    summary: 'Cancel the open intents of an agent that is being deleted',
    emits: { 'intent.cancelled': IntentEvent },
  }),
  /** Changes nothing before the deadline, by the tenant's clock. */
  expire: step('intents.expire', {
    summary: 'Expire an intent',
    emits: { 'intent.expired': declareEvent('The deadline of an intent has passed.', IntentEvent) },
  }),
}

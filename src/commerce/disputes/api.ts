import { z } from 'zod'
import { incomingMessageSchema, ProcessorMessageAnswer } from '../../cards/authorizations/index.ts'
import { CardEvent } from '../../cards/cards/index.ts'
import { internal, operationsFor, operator } from '../../kernel/contract/callers.ts'
import { choiceWithSynonyms } from '../../kernel/contract/choices.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { fileSchema } from '../../kernel/contract/file.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { pageQuerySchema } from '../../kernel/contract/page.ts'
import { step } from '../../kernel/contract/step.ts'
import { TimelinePage } from '../../kernel/journal/timeline.ts'
import { disputeReasons } from '../../ports/card-disputes.ts'
import { refuseCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { cents, moneySchema, positiveMoneySchema } from '../../values/money.ts'
import { recordHead, recordTimestamps, timeRangeMembers, truncateText } from '../../values/schemas.ts'
import { type Dispute, liabilityFindings, MAX_DISPUTE_EVIDENCE } from './dispute.ts'
import { disputeMachine } from './state.ts'

const status = z.enum(disputeMachine.states)

const aboutReasons =
  '`unauthorized`, `fraud`: you did not authorize the payment; the money is credited during the investigation. The others say what is wrong with the purchase.'

const reason = z.enum(disputeReasons).meta({ description: aboutReasons })
const givenReason = choiceWithSynonyms(disputeReasons, {
  fraudulent: 'fraud',
  not_delivered: 'not_received',
}).meta({ description: aboutReasons })

const finding = z.enum(liabilityFindings).meta({
  description:
    'The finding: the payment was authorized, or the owner acted fraudulently or with gross negligence (Directive (EU) 2015/2366, Articles 72 and 74).',
})

const DisputeRecord = z
  .object({
    ...recordHead('dispute'),
    agentId: id('agent').nullable(),
    delegationId: id('delegation').nullable(),
    transactionId: id('txn'),
    cardId: id('card').nullable(),
    merchant: z.string().meta({ examples: ['Bookshop'] }),
    reason,
    description: z.string(),
    status,
    amountCents: moneySchema.meta({ description: 'The disputed amount.' }),
    refundedCents: moneySchema.meta({
      description:
        'Amount that the merchant has refunded since, or that an earlier dispute of the payment has brought since. The dispute is about the rest.',
    }),
    creditedCents: moneySchema.meta({
      description: 'Amount currently credited to you, provisional until the decision.',
    }),
    creditDueAt: instant.nullable().meta({
      description: 'The time at which you get the provisional credit. Null if it was given or is not due.',
    }),
    evidenceIds: z.array(id('evidence')),
    evidenceDueAt: instant.nullable().meta({
      description:
        'Deadline for evidence. Then the dispute is submitted with its evidence, or lapses without any.',
    }),
    submittedAt: instant.nullable(),
    cardFrozen: z.boolean().meta({ description: 'Whether the card was frozen with the dispute.' }),
    processorProblem: z.string().nullable().meta({
      description: 'What the card processor failed to do, and why. Null if there is no problem.',
    }),
    finding: z.object({ finding, reasons: z.string(), at: z.iso.datetime() }).nullable().meta({
      description: 'The operator’s finding about a payment that is claimed to be unauthorized.',
    }),
    resolution: z.string().nullable().meta({ description: 'The outcome, in words.' }),
    resolvedAt: instant.nullable(),
    workflowId: z.string().meta({ description: 'The run’s ID in the Temporal Web UI.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Dispute' })

const dispute_not_found = notFound('dispute')

const lookupFails = { dispute_not_found } as const satisfies Record<string, RefusalSpec>

const amountFails = {
  amount_too_high: [
    400,
    'amountEuros: it exceeds what is left of the payment after refunds and other disputes.',
  ],
  too_late: [
    400,
    'The deadline has passed: an unauthorized payment can be disputed for 13 months, any other for 120 days.',
  ],
} as const satisfies Record<string, RefusalSpec>

const DisputeEvent = z.object({
  disputeId: id('dispute'),
  transactionId: id('txn'),
  agentId: id('agent').nullable(),
  status: z.enum(disputeMachine.states),
  amountCents: moneySchema,
  creditedCents: moneySchema,
  merchant: z.string().max(200),
})

const changes = [
  'changed',
  'evidence',
  'submitted',
  'credited',
  'taken_back',
  'refunded',
  'reminder',
  'finding',
] as const
export type DisputeChange = (typeof changes)[number]

const disputeEvents = {
  'dispute.created': declareEvent('A dispute of a card payment has been created.', DisputeEvent),
  'dispute.updated': declareEvent(
    'A dispute has changed: `change` says how.',
    DisputeEvent.extend({ change: z.enum(changes), reason: z.string().optional() }),
  ),
  'dispute.resolved': declareEvent(
    'A dispute has ended: it was won, lost or withdrawn, or has lapsed. Sent again if the card network changes its decision.',
    DisputeEvent.extend({ reason: z.string().optional() }),
  ),
}

export const disputeEvent = (dispute: Dispute): z.output<typeof DisputeEvent> => ({
  disputeId: dispute.id,
  transactionId: dispute.transactionId,
  agentId: dispute.agentId,
  status: dispute.status,
  amountCents: dispute.amountCents,
  creditedCents: dispute.creditedCents,
  merchant: truncateText(dispute.merchant),
})

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'disputes:read' })
const writers = operationsFor({ callers: ['key', 'agent'], scope: 'disputes:write' })

export const { 'dispute.created': created, ...laterEvents } = disputeEvents

const HIGHEST = cents(99_999_999_999n)

const description = z
  .string()
  .trim()
  .min(1)
  .max(2_000)
  .meta({ description: 'What happened, for the merchant and the card network.' })

const amountCents = positiveMoneySchema(HIGHEST)

const NO_NUMBER = 'No operation here accepts card numbers. Name the card by its ID.'

const dueMoney = [
  'Payments by card and machine payments can be disputed once they are completed; a SEPA transfer is recalled with `POST /transfers/{id}/recall`.',
  '`unauthorized` and `fraud`: the money is credited by the end of the next business day, in test mode immediately, and stays yours regardless of the card network’s decision, unless the operator finds, with reasons, that the payment was authorized, or that you acted fraudulently or with gross negligence. For the other reasons it is credited when the network grants it, and stays yours if the dispute is won.',
  'Refunds of the merchant in the meantime reduce the dispute; a full refund wins it.',
].join('\n\n')

const sandbox =
  'In test mode the network decides by the amount, after the submission. € 92.01: won a day later. € 92.02: lost a day later. € 92.03: credited at once, won after three days. € 92.04: credited at once, lost after three days. € 92.05: the processor refuses it. € 92.06: the processor does not answer for an hour. Any other amount waits for `POST /simulate/card/dispute`.'

const not_open = [
  400,
  'Only an open dispute can be changed: a submitted one is with the card network.',
] as const

export const disputesApi = {
  create: writers.post('/disputes', {
    summary: 'Dispute a payment by card',
    tool: {
      name: 'open_dispute',
      isCommon: true,
      use: 'Use it when a card was charged wrongly and the merchant does not help. Only a person should decide that: ask first.',
    },
    description: `${dueMoney}\n\nIt is open for evidence first. \`POST /disputes/{id}/submit\` submits it, or the deadline does.\n\n${sandbox}`,
    requires: 'cardProcessor',
    body: refuseCardNumbers(
      z.strictObject({
        transactionId: id('txn'),
        reason: givenReason,
        amountCents: amountCents.optional().meta({ description: 'Defaults to what is left of the payment.' }),
        description,
        freezeCard: z
          .boolean()
          .default(false)
          .meta({ description: 'Also freeze the card until it is unfrozen.' }),
      }),
      NO_NUMBER,
    ),
    example: {
      transactionId: 'txn_01jd8x2m4ye7k9v0c3q5r6t8wz',
      reason: 'not_received',
      description: 'Ordered on 2 November, promised for the 5th, never delivered.',
    },
    returns: [201, DisputeRecord],
    fails: {
      transaction_not_found: [404, 'transactionId: no such transaction.'],
      use_refund: [
        400,
        'transactionId: only card payments can be disputed. Recall a SEPA transfer with POST /transfers/{id}/recall; use POST /refunds for a payment to a wallet or of a request.',
      ],
      not_disputable: [400, 'transactionId: only a completed payment can be disputed.'],
      not_collected: [
        400,
        'transactionId: the merchant has not cleared it yet, so the card network has nothing to dispute. Dispute it after the clearing; without one, the money is released automatically.',
      ],
      dispute_open: [400, 'transactionId: a dispute of this payment is under way.'],
      dispute_decided: [400, 'transactionId: the card network has already decided about this payment.'],
      nothing_left: [400, 'transactionId: the payment has been refunded in full, or its refund is pending.'],
      ...amountFails,
    },
    emits: { 'dispute.created': created, ...laterEvents, 'card.frozen': CardEvent },
  }),
  list: readers.list('/disputes', {
    summary: 'List disputes',
    tool: {
      name: 'list_disputes',
      isCommon: true,
      use: 'Use it to see the status of disputes, and their deadlines.',
    },
    filters: {
      agentId: id('agent').optional(),
      transactionId: id('txn').optional(),
      cardId: id('card').optional(),
      status: status.optional(),
      ...timeRangeMembers,
    },
    item: DisputeRecord,
  }),
  get: readers.getOne('/disputes/{id}', 'a dispute', DisputeRecord, lookupFails),
  update: writers.patch('/disputes/{id}', {
    summary: 'Change a dispute while it is open',
    requires: 'cardProcessor',
    body: refuseCardNumbers(
      z
        .strictObject({
          reason: givenReason.optional(),
          amountCents: amountCents.optional(),
          description: description.optional(),
        })
        .refine(given => Object.keys(given).length > 0, 'set at least one field'),
      NO_NUMBER,
    ),
    example: { description: 'The parcel was sent to another address.' },
    returns: [200, DisputeRecord],
    fails: { ...lookupFails, ...amountFails, dispute_not_open: not_open },
    emits: laterEvents,
  }),
  addEvidence: writers.post('/disputes/{id}/evidence', {
    summary: 'Add evidence to a dispute',
    description:
      'Adds evidence stored with `POST /evidence`, by its IDs, while the dispute is open. Receipts of the payment are included automatically.',
    body: z.strictObject({
      evidenceIds: z
        .array(id('evidence'))
        .min(1)
        .max(MAX_DISPUTE_EVIDENCE)
        .refine(ids => new Set(ids).size === ids.length, 'each of them once'),
    }),
    example: { evidenceIds: ['evidence_01jd8x2m4ye7k9v0c3q5r6t8wz'] },
    returns: [200, DisputeRecord],
    fails: {
      ...lookupFails,
      dispute_not_open: not_open,
      evidence_not_found: [404, 'evidenceIds: no such evidence of the paying agent.'],
      too_much_evidence: [
        400,
        `evidenceIds: a dispute has up to ${MAX_DISPUTE_EVIDENCE} pieces of evidence.`,
      ],
    },
    emits: laterEvents,
  }),
  submit: writers.post('/disputes/{id}/submit', {
    summary: 'Submit a dispute to the card network',
    description:
      'Submits the dispute with its current bundle; nothing can be added afterwards. The answer shows an immediate credit by the network. A processor that does not answer is called again.',
    run: 'external',
    requires: 'cardProcessor',
    returns: [200, DisputeRecord],
    fails: { ...lookupFails, dispute_not_open: not_open },
    emits: laterEvents,
  }),
  withdraw: writers.post('/disputes/{id}/withdraw', {
    summary: 'Withdraw a dispute',
    description:
      'A provisional credit is reversed. If the wallet has too little money, you owe the rest, and the next incoming money repays it.',
    returns: [200, DisputeRecord],
    fails: {
      ...lookupFails,
      dispute_ended: [400, 'The dispute has already ended.'],
    },
    emits: laterEvents,
  }),
  timeline: readers.get('/disputes/{id}/timeline', {
    summary: 'Get the timeline of a dispute',
    description: 'The events of the dispute, its payment and its intent, oldest first.',
    query: pageQuerySchema({}),
    returns: [200, TimelinePage],
    fails: lookupFails,
  }),
  bundle: readers.get('/disputes/{id}/bundle', {
    limits: { oneAtATime: true },
    summary: 'Get the evidence of a dispute as one PDF',
    description:
      'The PDF that the card network receives: the payment, its intent with purpose, the decision with every rule, who approved it, the timeline, receipts and evidence with their SHA-256. The same data gives the same bytes.',
    returns: [200, fileSchema('application/pdf')],
    fails: lookupFails,
  }),
  find: operator.post('/disputes/{id}/finding', {
    summary: 'Record a finding about a payment that is claimed to be unauthorized',
    description:
      'The operator’s reasoned finding, which the owner reads. From then on the platform no longer bears the loss, and the credit is reversed unless the card network has paid it.',
    body: refuseCardNumbers(
      z.strictObject({
        finding,
        reasons: z
          .string()
          .trim()
          .min(20)
          .max(2_000)
          .meta({ description: 'The evidence, as the owner and the supervisor read it.' }),
      }),
      NO_NUMBER,
    ),
    example: {
      finding: 'authorized',
      reasons:
        'The intent was approved with a passkey of the owner, and the goods went to the owner’s address.',
    },
    returns: [200, DisputeRecord],
    fails: {
      ...lookupFails,
      not_unauthorized: [
        400,
        'Only a payment that is claimed to be unauthorized or fraudulent has a finding.',
      ],
      found_already: [400, 'There is already a finding. It cannot be changed.'],
    },
    emits: laterEvents,
  }),
  notice: internal.post('/rails/card-processor/disputes', {
    summary: 'Process a report of the card network about a dispute',
    body: incomingMessageSchema,
    returns: [200, ProcessorMessageAnswer],
    emits: laterEvents,
  }),
}

/** Each may be repeated. One that is not due changes nothing. */
export const disputeSteps = {
  followDeadlines: step('disputes.followDeadlines', {
    summary: 'Carry out the due step of a dispute',
    emits: laterEvents,
  }),
  callProcessor: step('disputes.callProcessor', {
    summary: 'Call the card processor about a dispute',
    emits: laterEvents,
    calls: 'cardProcessor',
  }),
}

import { z } from 'zod'
import { incomingMessage, MessageAnswer } from '../../cards/authorizations/index.ts'
import { CardEvent } from '../../cards/cards/index.ts'
import { event } from '../../kernel/contract/events.ts'
import { file } from '../../kernel/contract/file.ts'
import { type Failure, get, list, missing, patch, post } from '../../kernel/contract/operation.ts'
import { pageQuery } from '../../kernel/contract/page.ts'
import { TimelinePage } from '../../kernel/journal/timeline.ts'
import { disputeReasons } from '../../ports/card-disputes.ts'
import { withoutCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros, positiveEuros } from '../../values/money.ts'
import { excerpt, ProcessStatusRecord, recordHead, recordTail, timeRange } from '../../values/schemas.ts'
import { calls, type Dispute, findings, MAX_EVIDENCE } from './dispute.ts'
import { disputeMachine } from './state.ts'

const status = z.enum(disputeMachine.states)

const reason = z.enum(disputeReasons).meta({
  description:
    '`unauthorized`, `fraud`: nobody of yours has paid this; the money is given back while it is looked into. The others say what is wrong with what was paid for.',
})

const finding = z.enum(findings).meta({
  description:
    'What was found out: the payment was authorized, or the owner has acted fraudulently or with gross negligence (Directive (EU) 2015/2366, Articles 72 and 74).',
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
    amountEuros: euros.meta({ description: 'What is disputed.' }),
    refundedEuros: euros.meta({
      description: 'What the merchant has refunded of it meanwhile: the dispute is about the rest.',
    }),
    creditedEuros: euros.meta({
      description: 'What you have of it just now, provisionally until it is decided.',
    }),
    creditDueAt: instant.nullable().meta({
      description: 'When you are given the money provisionally; null where that is done or is not due.',
    }),
    evidenceIds: z.array(id('evidence')),
    evidenceDueAt: instant.nullable().meta({
      description:
        'Until when it waits for evidence. Then what is there is submitted; where nothing is, it lapses.',
    }),
    submittedAt: instant.nullable(),
    cardFrozen: z.boolean().meta({ description: 'Whether the card was frozen with it.' }),
    processorProblem: z.string().nullable().meta({
      description: 'What the card processor has not done, and why; null while all is well.',
    }),
    finding: z.object({ finding, reasons: z.string(), at: z.iso.datetime() }).nullable().meta({
      description: 'What the operator has found out about a payment that is said to be unauthorized.',
    }),
    resolution: z.string().nullable().meta({ description: 'How it has ended, in words.' }),
    resolvedAt: instant.nullable(),
    workflowId: z.string().meta({ description: 'The run to find in the Temporal Web UI.' }),
    ...recordTail,
  })
  .meta({ id: 'Dispute' })

const dispute_not_found = missing('dispute')

const lookupFails = { dispute_not_found } as const satisfies Record<string, Failure>

const amountFails = {
  amount_too_high: [
    400,
    'amountEuros: no more than is left of the payment after refunds and other disputes can be disputed.',
  ],
  too_late: [
    400,
    'It is too late: an unauthorized payment can be disputed for 13 months, any other for 120 days.',
  ],
} as const satisfies Record<string, Failure>

const DisputeEvent = z.object({
  disputeId: id('dispute'),
  transactionId: id('txn'),
  agentId: id('agent').nullable(),
  status: z.enum(disputeMachine.states),
  amountEuros: euros,
  creditedEuros: euros,
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
export type Change = (typeof changes)[number]

export const disputeEvents = {
  'dispute.created': event('A payment by card is disputed.', DisputeEvent),
  'dispute.updated': event(
    'Something about a dispute has changed: `change` says what.',
    DisputeEvent.extend({ change: z.enum(changes), reason: z.string().optional() }),
  ),
  'dispute.resolved': event(
    'A dispute has ended: it was won, lost or withdrawn, or has lapsed. The card network may decide otherwise later: then it is sent again.',
    DisputeEvent.extend({ reason: z.string().optional() }),
  ),
}

export const disputeEvent = (dispute: Dispute): z.output<typeof DisputeEvent> => ({
  disputeId: dispute.id,
  transactionId: dispute.transactionId,
  agentId: dispute.agentId,
  status: dispute.status,
  amountEuros: dispute.amountEuros,
  creditedEuros: dispute.creditedEuros,
  merchant: excerpt(dispute.merchant),
})

const readers = { callers: ['key', 'agent'], scope: 'disputes:read' } as const
const writers = { callers: ['key', 'agent'], scope: 'disputes:write' } as const

export const { 'dispute.created': created, ...laterEvents } = disputeEvents

const HIGHEST = 99_999_999_999n

const description = z
  .string()
  .trim()
  .min(1)
  .max(2_000)
  .meta({ description: 'What has happened, for the merchant and the card network.' })

const amountEuros = positiveEuros(HIGHEST)

const NO_NUMBER = 'Nothing here takes one: name the card by its id.'

const money = [
  'Payments by card and machine payments can be disputed once they are completed; a SEPA transfer is asked back by `POST /transfers/{id}/recall`.',
  '`unauthorized` and `fraud`: you have the money back at the latest at the end of the next business day, in test mode at once, and keep it whatever the card network decides, unless the operator finds, with reasons, that the payment was authorized, or that you have acted fraudulently or with gross negligence. For the other reasons you have it when the network grants it, and keep it if the dispute is won.',
  'What the merchant refunds meanwhile makes the dispute smaller; all of it wins it.',
].join('\n\n')

const sandbox =
  'In test mode the network decides by the amount, after the submission. € 92.01: won a day later. € 92.02: lost a day later. € 92.03: credited at once, won after three days. € 92.04: credited at once, lost after three days. € 92.05: the processor refuses it. € 92.06: the processor does not answer for an hour. Any other amount waits for `POST /simulate/card/dispute`.'

const not_open = [
  400,
  'Only an open dispute can be changed: what is submitted lies with the card network.',
] as const

const acted = [200, z.object({ acted: z.boolean() })] as const

/** A step may be repeated: one that is not due changes nothing. */
const step = { callers: [], returns: acted, fails: lookupFails, emits: laterEvents } as const

export const disputesApi = {
  create: post('/disputes', {
    ...writers,
    summary: 'Dispute a payment by card',
    tool: {
      name: 'open_dispute',
      isCommon: true,
      use: 'Use it when a card was charged wrongly and the merchant does not help. Only a person should decide that: ask first.',
    },
    description: `${money}\n\nIt is open for evidence first. \`POST /disputes/{id}/submit\` hands it in, or the deadline does.\n\n${sandbox}`,
    requires: 'cardProcessor',
    body: withoutCardNumbers(
      z.strictObject({
        transactionId: id('txn'),
        reason,
        amountEuros: amountEuros
          .optional()
          .meta({ description: 'All that is left of the payment, if left out.' }),
        description,
        freezeCard: z
          .boolean()
          .default(false)
          .meta({ description: 'Freeze the card, too: it pays nothing until it is unfrozen.' }),
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
      ask_it_back: [
        400,
        'transactionId: only payments by card can be disputed. A SEPA transfer is asked back by POST /transfers/{id}/recall, a payment to a wallet or of a request by POST /refunds.',
      ],
      not_disputable: [400, 'transactionId: only a completed payment can be disputed.'],
      not_collected: [
        400,
        'transactionId: the merchant has not collected it yet, so the card network knows nothing that could be disputed. Dispute it then; if it is never collected, the money comes back by itself.',
      ],
      dispute_open: [400, 'transactionId: a dispute of this payment is under way.'],
      dispute_decided: [400, 'transactionId: the card network has decided on this payment already.'],
      nothing_left: [400, 'transactionId: all of it has come back, or is asked back already.'],
      ...amountFails,
    },
    emits: { 'dispute.created': created, ...laterEvents, 'card.frozen': CardEvent },
  }),
  list: list('/disputes', {
    ...readers,
    summary: 'List disputes',
    tool: {
      name: 'list_disputes',
      isCommon: true,
      use: 'Use it to see how the disputes about charges stand, and until when something is wanted.',
    },
    filters: {
      agentId: id('agent').optional(),
      transactionId: id('txn').optional(),
      cardId: id('card').optional(),
      status: status.optional(),
      ...timeRange,
    },
    item: DisputeRecord,
  }),
  get: get('/disputes/{id}', {
    ...readers,
    summary: 'Get a dispute',
    returns: [200, DisputeRecord],
    fails: lookupFails,
  }),
  update: patch('/disputes/{id}', {
    ...writers,
    summary: 'Change a dispute while it is open',
    requires: 'cardProcessor',
    body: withoutCardNumbers(
      z
        .strictObject({
          reason: reason.optional(),
          amountEuros: amountEuros.optional(),
          description: description.optional(),
        })
        .refine(given => Object.keys(given).length > 0, 'give at least one member'),
      NO_NUMBER,
    ),
    example: { description: 'The parcel was sent to another address.' },
    returns: [200, DisputeRecord],
    fails: { ...lookupFails, ...amountFails, dispute_not_open: not_open },
    emits: laterEvents,
  }),
  addEvidence: post('/disputes/{id}/evidence', {
    ...writers,
    summary: 'Give evidence to a dispute',
    description:
      'Evidence that `POST /evidence` has kept, by its ids; it can be given while the dispute is open. Receipts of the payment go along by themselves.',
    body: z.strictObject({
      evidenceIds: z
        .array(id('evidence'))
        .min(1)
        .max(MAX_EVIDENCE)
        .refine(ids => new Set(ids).size === ids.length, 'each of them once'),
    }),
    example: { evidenceIds: ['evidence_01jd8x2m4ye7k9v0c3q5r6t8wz'] },
    returns: [200, DisputeRecord],
    fails: {
      ...lookupFails,
      dispute_not_open: not_open,
      evidence_not_found: [404, 'evidenceIds: no such evidence of the agent that has paid.'],
      too_much_evidence: [400, `evidenceIds: a dispute has up to ${MAX_EVIDENCE} pieces of evidence.`],
    },
    emits: laterEvents,
  }),
  submit: post('/disputes/{id}/submit', {
    ...writers,
    summary: 'Submit a dispute to the card network',
    description:
      'With the bundle as it is now. Nothing can be added afterwards. The answer shows what the network has credited at once; a processor that does not answer is asked again meanwhile.',
    run: 'outside',
    requires: 'cardProcessor',
    returns: [200, DisputeRecord],
    fails: { ...lookupFails, dispute_not_open: not_open },
    emits: laterEvents,
  }),
  withdraw: post('/disputes/{id}/withdraw', {
    ...writers,
    summary: 'Withdraw a dispute',
    description:
      'What was given back provisionally is taken back. What the wallet no longer has, is owed, and is taken from what comes in next.',
    returns: [200, DisputeRecord],
    fails: {
      ...lookupFails,
      dispute_ended: [400, 'The dispute has ended already.'],
    },
    emits: laterEvents,
  }),
  timeline: get('/disputes/{id}/timeline', {
    ...readers,
    summary: 'Get the timeline of a dispute',
    description: 'All that has happened to the dispute, its payment and its intent, oldest first.',
    query: pageQuery({}),
    returns: [200, TimelinePage],
    fails: lookupFails,
  }),
  bundle: get('/disputes/{id}/bundle', {
    limits: { oneAtATime: true },
    ...readers,
    summary: 'Get the evidence of a dispute as one PDF',
    description:
      'What is handed to the card network: the payment, its intent with purpose, the decision with every rule, who approved it, the timeline, receipts and evidence with their SHA-256. The same facts give the same bytes.',
    returns: [200, file('application/pdf')],
    fails: lookupFails,
  }),
  find: post('/disputes/{id}/finding', {
    callers: ['dash'],
    summary: 'Record what was found out about a payment that is said to be unauthorized',
    description:
      'The operator’s reasoned finding, which the owner reads: from then on the platform does not bear the loss any more, and what was given back is taken back as far as the card network has not paid it.',
    body: withoutCardNumbers(
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
      not_unauthorized: [400, 'Only a payment that is said to be unauthorized or fraudulent has a finding.'],
      found_already: [400, 'There is a finding already. It stands.'],
    },
    emits: laterEvents,
  }),
  processStatus: get('/disputes/{id}/status', {
    readsClock: true,
    summary: 'How a dispute stands',
    callers: [],
    returns: [
      200,
      ProcessStatusRecord.extend({
        next: z
          .enum([...calls, 'deadline'])
          .nullable()
          .meta({ description: 'What is done when it is due.' }),
      }),
    ],
    fails: lookupFails,
  }),
  followDeadlines: post('/disputes/{id}/follow-deadlines', {
    ...step,
    summary: 'Do what is due for a dispute',
  }),
  callProcessor: post('/disputes/{id}/call-processor', {
    ...step,
    summary: 'Call the card processor about a dispute',
    run: 'outside',
    requires: 'cardProcessor',
  }),
  notice: post('/rails/card-processor/disputes', {
    summary: 'Take what the card network says of a dispute',
    callers: [],
    body: incomingMessage,
    returns: [200, MessageAnswer],
    emits: laterEvents,
  }),
}

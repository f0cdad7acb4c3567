import type { CardAuthorization } from '../../cards/authorizations/index.ts'
import type { Intent } from '../../control/intents/index.ts'
import type { timelineOfRecords } from '../../kernel/journal/timeline.ts'
import type { Refund } from '../../money/refunds/index.ts'
import type { Transaction } from '../../money/transactions/index.ts'
import { formatEuros } from '../../values/money.ts'
import type { Evidence } from '../evidence/index.ts'
import type { Receipt } from '../receipts/index.ts'
import type { Dispute } from './dispute.ts'
import { factsOf } from './state.ts'
import type { Block, Picture, Section } from './thread.ts'

/** All that is known of a disputed payment. */
export interface CaseFile {
  readonly holder: string
  readonly dispute: Dispute
  readonly transaction: Transaction
  readonly payment: CardAuthorization | null
  /** What was asked back, and what has come back by itself. */
  readonly refunds: readonly Refund[]
  readonly intent: Intent | null
  readonly proof: string | null
  readonly receipts: readonly Receipt[]
  readonly evidence: readonly Evidence[]
  readonly timeline: Awaited<ReturnType<typeof timelineOfRecords>>
}

type Rows = readonly (readonly [name: string, value: string | null | undefined])[]

/** `2026-11-22 09:30:05 UTC`. */
const timeInWords = (at: Date | string): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** CaseFile that are not known are left out. */
const facts = (rows: Rows): Block => ({
  kind: 'facts',
  rows: rows.flatMap(([name, value]) => (value ? [[name, value] as const] : [])),
})

const reasons = {
  unauthorized: 'The cardholder has not authorized the payment.',
  fraud: 'The payment was made by fraud.',
  not_received: 'What was paid for was never received.',
  not_as_described: 'What was received is not what was described.',
  duplicate: 'The same purchase was charged more than once.',
  incorrect_amount: 'Another amount was charged than agreed.',
  cancelled: 'The purchase was cancelled.',
  credit_not_processed: 'A credit that was promised has not come.',
} as const

export function disputeSection({ dispute, holder }: CaseFile): Section {
  return {
    title: 'The dispute',
    blocks: [
      facts([
        ['Account holder', holder],
        ['Reason', reasons[dispute.reason]],
        ['Disputed', formatEuros(dispute.amountEuros)],
        ['Refunded meanwhile', dispute.refundedEuros > 0n ? formatEuros(dispute.refundedEuros) : null],
        ['Opened', timeInWords(dispute.createdAt)],
        ['Dispute', dispute.id],
        ['At the processor', dispute.processorDisputeId],
        ['Card frozen with it', dispute.cardFrozen ? 'yes' : null],
      ]),
      { kind: 'text', text: dispute.description },
    ],
  }
}

export function paymentSection({ transaction, payment }: CaseFile): Section {
  const clearings = payment?.facts.clearings ?? []
  return {
    title: 'The payment',
    blocks: [
      facts([
        ['Merchant', transaction.merchant],
        ['On the statement', payment?.descriptor],
        ['Category code', transaction.mcc],
        ['Country', transaction.country],
        ['Amount', formatEuros(transaction.amountEuros)],
        ['Refunded', formatEuros(transaction.refundedEuros)],
        ['Kind', transaction.type === 'mpp' ? 'machine payment by card' : 'payment by card'],
        ['Begun', timeInWords(transaction.createdAt)],
        ['Transaction', transaction.id],
        ['At the network', payment?.processorRef],
        ['Clearings', clearings.map(({ id, amount }) => `${formatEuros(BigInt(amount))} (${id})`).join(', ')],
      ]),
    ],
  }
}

const refundOrigins = {
  asked: 'asked for by the cardholder',
  network: 'sent by the merchant',
  bank: 'sent back by a bank',
  payee: 'given back by who was paid',
} as const satisfies Record<Refund['origin'], string>

/** What has come back of the payment, and what was asked for and has not; nothing while there is neither. */
export function refundsSection({ refunds, payment }: CaseFile): Section[] {
  const credits = payment?.facts.refunds ?? []
  const credit = credits.map(({ id, amount }) => `${formatEuros(BigInt(amount))} (${id})`).join(', ')
  if (refunds.length === 0) return []
  const table: Block = {
    kind: 'table',
    columns: [
      { name: 'When', share: 0.21 },
      { name: 'Amount', share: 0.1 },
      { name: 'Came back', share: 0.1 },
      { name: 'Stands', share: 0.1 },
      { name: 'How', share: 0.16 },
      { name: 'Refund', share: 0.33 },
    ],
    rows: refunds.map(({ id, createdAt, completedAt, amountEuros, arrivedEuros, status, origin }) => [
      timeInWords(completedAt ?? createdAt),
      formatEuros(amountEuros),
      formatEuros(arrivedEuros),
      status,
      refundOrigins[origin],
      id,
    ]),
  }
  return [{ title: 'Refunds', blocks: [table, facts([['Credits of the network', credit]])] }]
}

/** Who has done it, for somebody who does not know the service. */
const actors: Readonly<Record<string, string>> = {
  agent: 'the agent',
  key: 'the owner',
  console: 'the owner',
  signed: 'card network',
  process: 'the service',
  operator: 'an operator',
  dash: 'an operator',
}

export function timelineSection({ timeline }: CaseFile): Section {
  return {
    title: 'Timeline',
    blocks: [
      {
        kind: 'table',
        columns: [
          { name: 'When', share: 0.21 },
          { name: 'What', share: 0.2 },
          { name: 'Who', share: 0.13 },
          { name: 'Amount', share: 0.1 },
          { name: 'Details', share: 0.36 },
        ],
        rows: timeline.map(({ at, event, actorType, amountEuros, reason, resourceId }) => [
          timeInWords(at),
          event,
          actors[actorType] ?? actorType,
          amountEuros === null ? '' : formatEuros(amountEuros),
          reason ?? resourceId,
        ]),
      },
    ],
  }
}

const factsInWords = {
  credited: 'The card network has paid for the time being.',
  won: 'The card network has decided for the cardholder.',
  lost: 'The card network has decided for the merchant.',
  withdrawn: 'The cardholder has withdrawn the dispute.',
  lapsed: 'The time for evidence was over, and nothing was handed in.',
} as const

/** What was said between the owner, the operator and the network; nothing as long as there is nothing. */
export function correspondenceSection({ dispute }: CaseFile): Section[] {
  const { finding } = dispute
  const stated = factsOf(dispute.facts).map(({ at, type, cents }) => ({
    at,
    text: `${factsInWords[type]}${cents === null ? '' : ` ${formatEuros(BigInt(cents))}.`}`,
  }))
  const found = finding ? [{ at: finding.at, text: `Finding: ${finding.finding}. ${finding.reasons}` }] : []
  const rows = [...stated, ...found].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
  if (rows.length === 0) return []
  const block: Block = {
    kind: 'table',
    columns: [
      { name: 'When', share: 0.22 },
      { name: 'What', share: 0.78 },
    ],
    rows: rows.map(({ at, text }) => [timeInWords(at), text]),
  }
  return [{ title: 'Correspondence', blocks: [block] }]
}

const deciders = {
  policy: 'the policy, by itself',
  key: 'an API key of the owner',
  console: 'a person in the console',
  operator: 'an operator',
  mandate: 'a mandate that a person has signed',
} as const

/** What the agent wanted to spend, before it was paid; nothing where no intent covered the payment. */
export function intentSection({ intent, proof }: CaseFile): Section[] {
  if (!intent) return []
  const { decidedBy } = intent
  const blocks: Block[] = [
    facts([
      ['Purpose', intent.purpose],
      ['Merchant', intent.merchant],
      ['Amount', formatEuros(intent.amountEuros)],
      ['Declared', timeInWords(intent.createdAt)],
      ['Agent', intent.agentId],
      ['Run', intent.runId],
      ['Intent', intent.id],
      ['Approved', intent.decidedAt && timeInWords(intent.decidedAt)],
      [
        'Approved by',
        decidedBy && `${deciders[decidedBy.type]}${decidedBy.name ? `: ${decidedBy.name}` : ''}`,
      ],
      ['Comment', intent.comment],
    ]),
  ]
  if (proof !== null)
    blocks.push(
      {
        kind: 'text',
        text: 'The proof that a person approved it with a passkey. Anybody can check it with the keys under /.well-known/jwks.json: it falls with one digit of the amount changed.',
      },
      { kind: 'text', text: proof, isSmall: true },
    )
  return [{ title: 'What was to be paid, and why', blocks }]
}

/** The decision about the intent, else about the payment itself, with what every rule said. */
export function decisionSection({ intent, payment }: CaseFile): Section[] {
  const decision = intent?.decision ?? payment?.decision
  if (!decision) return []
  const outcome = decision.allowed ? 'allowed' : 'refused'
  return [
    {
      title: 'The decision',
      blocks: [
        facts([
          ['Outcome', decision.requiresApproval ? `${outcome}, once approved` : outcome],
          ['Reason', decision.reason],
          ['Policy', decision.policyId && `${decision.policyId}, version ${decision.policyVersion ?? ''}`],
          ['Decision', decision.id],
        ]),
        {
          kind: 'table',
          columns: [
            { name: 'Rule', share: 0.27 },
            { name: 'Outcome', share: 0.12 },
            { name: 'What it said', share: 0.61 },
          ],
          rows: decision.checks.map(({ rule, outcome, message }) => [rule, outcome, message ?? '']),
        },
      ],
    },
  ]
}

/** What was kept when it happened: its SHA-256 and the time at which it came prove that it was not made up later. */
export function evidenceSections({ evidence }: CaseFile): Section[] {
  if (evidence.length === 0) return []
  const blocks = evidence.flatMap((piece, index): Block[] => [
    facts([
      [`${index + 1}. ${piece.type}`, piece.note ?? piece.fileName ?? 'no note'],
      ['Received', timeInWords(piece.receivedAt)],
      [
        'File',
        piece.text === null
          ? `${piece.fileName ?? 'no name'}, ${piece.mediaType}, ${piece.bytes} bytes`
          : null,
      ],
      ['SHA-256', piece.sha256],
      ['Evidence', piece.id],
    ]),
    ...(piece.text === null ? [] : [{ kind: 'text', text: excerptOf(piece.text) } as const]),
  ])
  return [{ title: 'Evidence', blocks }]
}

/** A letter of five pages; fifty texts of nothing but ends of lines would take longer than a thread has. */
const MOST_LINES = 300

/** What a bundle shows of a text: what is left out is named, and its SHA-256 is that of the whole. */
function excerptOf(text: string): string {
  const shown = text.split('\n', MOST_LINES).join('\n')
  if (shown.length === text.length) return text
  return `${shown.trimEnd()}\n… ${text.length - shown.length} of its ${text.length} characters are left out here.`
}

/** The papers that were sent for the payment, as they came. */
export function receiptSections({ receipts }: CaseFile): Section[] {
  if (receipts.length === 0) return []
  const blocks = receipts.map((receipt, index) =>
    facts([
      [
        `${index + 1}. receipt`,
        `${receipt.fileName ?? 'no name'}, ${receipt.mediaType}, ${receipt.bytes} bytes`,
      ],
      ['Stands', receipt.status],
      ['Received', timeInWords(receipt.receivedAt)],
      ['SHA-256', receipt.sha256],
      ['Receipt', receipt.id],
    ]),
  )
  return [{ title: 'Receipts', blocks }]
}

/** The most files that are shown; all of them are named. */
const MOST_PICTURES = 20

/** What the files show, each on a page of its own: of a document its first page. */
export function picturesOf({ receipts, evidence }: CaseFile): Picture[] {
  const papers = receipts.map(
    ({ sha256, mediaType, largeSha256 }, index): Picture => ({
      title: `Receipt ${index + 1}`,
      sha256,
      kind: mediaType,
      viewSha256: largeSha256,
    }),
  )
  const pieces = evidence.flatMap(({ sha256, mediaType, note, viewSha256 }, index): Picture[] =>
    mediaType === 'text/plain'
      ? []
      : [
          {
            title: `Evidence ${index + 1}${note === null ? '' : `: ${note}`}`,
            sha256,
            kind: mediaType,
            viewSha256,
          },
        ],
  )
  return [...papers, ...pieces].slice(0, MOST_PICTURES)
}

import type { Refund } from '../../../money/refunds/index.ts'
import { formatEuros } from '../../../values/money.ts'
import type { Facts } from './collect-facts.ts'
import type { Block, Section } from './input.ts'

type Rows = readonly (readonly [name: string, value: string | null | undefined])[]

/** `2026-11-22 09:30:05 UTC`. */
export const timeInWords = (at: Date | string): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** Facts that are not known are left out. */
export const facts = (rows: Rows): Block => ({
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

export function disputeSection({ dispute, holder }: Facts): Section {
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

export function paymentSection({ transaction, payment }: Facts): Section {
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
export function refundsSection({ refunds, payment }: Facts): Section[] {
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

export function timelineSection({ timeline }: Facts): Section {
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

const saidInWords = {
  credited: 'The card network has paid for the time being.',
  won: 'The card network has decided for the cardholder.',
  lost: 'The card network has decided for the merchant.',
  withdrawn: 'The cardholder has withdrawn the dispute.',
  lapsed: 'The time for evidence was over, and nothing was handed in.',
} as const

/** What was said between the owner, the operator and the network; nothing while nobody has said anything. */
export function correspondenceSection({ dispute }: Facts): Section[] {
  const { words, finding } = dispute
  const said = words.map(({ at, says, cents }) => ({
    at,
    text: `${saidInWords[says]}${cents === null ? '' : ` ${formatEuros(BigInt(cents))}.`}`,
  }))
  const found = finding ? [{ at: finding.at, text: `Finding: ${finding.finding}. ${finding.reasons}` }] : []
  const rows = [...said, ...found].sort((one, other) => Date.parse(one.at) - Date.parse(other.at))
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

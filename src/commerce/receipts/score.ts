import { hostInText, merchantNameOfDescriptor, normalizeMerchant } from '../../control/merchants/index.ts'
import { days } from '../../values/clock.ts'
import { type Cents, formatDecimal } from '../../values/money.ts'
import type { OriginalAmount } from '../../values/original-amount.ts'
import type { ReceiptFacts } from './read-text.ts'

/** Out of 100 points: the score for an automatic match, and the required lead over the next payment. */
export const MIN_MATCH_SCORE = 80
const LEAD = 10
const SUGGEST_FROM = 40
const MOST_SUGGESTIONS = 5
export const RECEIPT_DATE_TOLERANCE_MS = days(30)

const POINTS = {
  amount_equal: 50,
  merchant_named: 30,
  /** The text does not name the merchant, but all earlier receipts with its VAT number were of this merchant. */
  vat_number_known: 30,
  date_same_day: 20,
  date_within_3_days: 15,
  date_within_7_days: 10,
  date_within_30_days: 5,
  has_receipt: -15,
} as const

export const receiptMatchReasons = Object.keys(POINTS) as [ReceiptMatchReason, ...ReceiptMatchReason[]]
export type ReceiptMatchReason = keyof typeof POINTS

export interface ReceiptCandidate {
  readonly transactionId: string
  readonly amountCents: Cents
  /** The price in another currency, in which its receipt may be. */
  readonly original: OriginalAmount | null
  readonly merchant: string
  readonly at: Date
  readonly hasReceipt: boolean
  readonly hasVatNumber: boolean
}

export interface ScoredCandidate {
  readonly transactionId: string
  readonly score: number
  readonly reasons: ReceiptMatchReason[]
}

export interface ReceiptMatching {
  readonly match: ScoredCandidate | undefined
  readonly suggestions: ScoredCandidate[]
}

/** The best payment matches if its lead over the next one is large enough. */
export function chooseReceiptMatch(
  text: string,
  facts: ReceiptFacts,
  payments: readonly ReceiptCandidate[],
  now: Date,
): ReceiptMatching {
  const names = namesIn(text)
  const scored = payments
    .map(payment => scoreOf(payment, facts, names, now))
    .filter(({ score }) => score >= SUGGEST_FROM)
    .toSorted((a, b) => b.score - a.score || (a.transactionId < b.transactionId ? 1 : -1))
  const [best, next] = scored
  const isAlone = best && best.score >= MIN_MATCH_SCORE && best.score - (next?.score ?? 0) >= LEAD
  return isAlone
    ? { match: best, suggestions: [] }
    : { match: undefined, suggestions: scored.slice(0, MOST_SUGGESTIONS) }
}

function scoreOf(payment: ReceiptCandidate, facts: ReceiptFacts, names: Names, now: Date): ScoredCandidate {
  const reasons: ReceiptMatchReason[] = []
  if (hasTotalOf(facts, payment) === true) reasons.push('amount_equal')
  if (isNamed(payment.merchant, names)) reasons.push('merchant_named')
  else if (payment.hasVatNumber) reasons.push('vat_number_known')
  reasons.push(dateReason(payment.at, facts.date, now))
  if (payment.hasReceipt) reasons.push('has_receipt')
  const score = reasons.reduce((sum, reason) => sum + POINTS[reason], 0)
  return { transactionId: payment.transactionId, score, reasons }
}

type PaidAmount = Pick<ReceiptCandidate, 'amountCents' | 'original'>

/** Undefined if the receipt has no total, or one in a currency that says nothing about this payment. */
function hasTotalOf({ total, currency }: ReceiptFacts, { amountCents, original }: PaidAmount) {
  if (total === null) return undefined
  const isOriginal = original !== null && Number(total) === Number(original.amount)
  if (currency !== null && currency === original?.currency) return isOriginal
  if (currency !== null && currency !== 'EUR') return undefined
  return total === formatDecimal(amountCents) || (currency === null && isOriginal)
}

function dateReason(at: Date, date: string | null, now: Date): ReceiptMatchReason {
  const day = date ?? now.toISOString().slice(0, 10)
  const apart = Math.abs(Date.parse(at.toISOString().slice(0, 10)) - Date.parse(day))
  if (apart === 0) return 'date_same_day'
  if (apart <= days(3)) return 'date_within_3_days'
  return apart <= days(7) ? 'date_within_7_days' : 'date_within_30_days'
}

interface Names {
  /** The first lines, where merchants name themselves, by a key that all spellings share. */
  readonly lines: ReadonlySet<string>
  readonly text: string
}

const HEAD = 30

const linesAtHead = (text: string): string[] =>
  text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line.length > 2 && line.length < 100)
    .slice(0, HEAD)

export const receiptHeadLines = (text: string | null): string => linesAtHead(text ?? '').join('\n')

const namesIn = (text: string): Names => ({
  lines: new Set(linesAtHead(text).map(normalizeMerchant)),
  text: wordsOf(text),
})

const wordsOf = (text: string): string =>
  ` ${text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}.]+/gu, ' ')
    .trim()} `

/** Compares line by line by the rules of merchant names, or finds the name anywhere in the text. */
function isNamed(merchant: string, { lines, text }: Names): boolean {
  const host = hostInText(merchant)?.replace(/^www\./, '')
  if (host) return text.includes(host)
  const name = merchantNameOfDescriptor(merchant)
  if (lines.has(normalizeMerchant(merchant)) || lines.has(normalizeMerchant(name))) return true
  const plain = wordsOf(name).trim()
  return plain.length > 3 && text.includes(` ${plain} `)
}

export const receiptTotalDiffers = (facts: ReceiptFacts | null, paid: PaidAmount): boolean =>
  facts !== null && hasTotalOf(facts, paid) === false

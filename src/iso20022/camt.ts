import { normalizeIban } from '../values/iban.ts'
import { type Cents, cents, NO_CENTS, sumOf } from '../values/money.ts'
import type { ReceivedCredit } from './credit.ts'
import { elementsAt, textAt, UnreadableXml, type XmlElement } from './xml-reader.ts'

export const skippedEntryReasons = [
  'not_a_credit',
  'not_euro',
  'not_booked',
  'reversal',
  'returned_payment',
  'amount_unreadable',
  'no_bank_reference',
  'repeated_reference',
] as const

interface SkippedEntry {
  readonly bankReference: string | null
  readonly reason: (typeof skippedEntryReasons)[number]
  readonly payments: readonly OwnPayment[]
}

export interface BankFile {
  readonly kind: (typeof kinds)[number]['name']
  readonly messageId: string
  readonly entries: number
  readonly credits: readonly ReceivedCredit[]
  readonly payments: readonly OwnPayment[]
  readonly skipped: readonly SkippedEntry[]
}

/** The root element and the statement element of each kind: camt.053 comes at the end of a day, camt.054 during it. */
const kinds = [
  { name: 'camt.053', root: 'BkToCstmrStmt', statement: 'Stmt' },
  { name: 'camt.054', root: 'BkToCstmrDbtCdtNtfctn', statement: 'Ntfctn' },
] as const

/** The most entries, or payments in them, of one file: a file is processed in one database transaction. */
export const MAX_BANK_FILE_ENTRIES = 10_000

export function parseCamt(
  document: XmlElement,
  today: string,
  otherwise = 'It is neither a camt.053 nor a camt.054 message.',
): BankFile {
  const [body] = document.children
  const kind = kinds.find(({ name, root }) => body?.name === root && document.namespace.includes(`:${name}.`))
  if (document.name !== 'Document' || !body || !kind) throw new UnreadableXml(otherwise)
  const messageId = textAt(body, 'GrpHdr/MsgId')
  if (!messageId) throw new UnreadableXml('The message has no GrpHdr/MsgId.')
  const references = new Set<string>()
  const entries = elementsAt(body, kind.statement).flatMap(statement =>
    entriesOf(statement, references, today),
  )
  const credits = entries.flatMap(entry => entry.credits)
  const payments = entries.flatMap(entry => entry.payments)
  const skipped = entries.flatMap(({ reason, ...entry }) => (reason ? [{ ...entry, reason }] : []))
  if (Math.max(entries.length, credits.length, payments.length) > MAX_BANK_FILE_ENTRIES)
    throw new UnreadableXml(
      `It has more than ${MAX_BANK_FILE_ENTRIES} bookings or payments. Ask the bank for smaller files.`,
    )
  return { kind: kind.name, messageId, entries: entries.length, credits, payments, skipped }
}

interface Entry extends Omit<SkippedEntry, 'reason'> {
  readonly reason: SkippedEntry['reason'] | null
  readonly credits: readonly ReceivedCredit[]
}

function entriesOf(statement: XmlElement, references: Set<string>, today: string): Entry[] {
  const account = textAt(statement, 'Acct/Id/IBAN', 'Acct/Id/Othr/Id')
  if (!account || account.length > MAX_REFERENCE_LENGTH)
    throw new UnreadableXml('It has a statement without an account.')
  return elementsAt(statement, 'Ntry').map(entry => {
    const bankReference = referenceOf(entry)
    const payments = ownPaymentsIn(entry)
    const skip = (reason: SkippedEntry['reason']) => ({ bankReference, reason, credits: [], payments })
    const reason = skipReasonOf(entry, bankReference)
    if (reason || bankReference === null) return skip(reason ?? 'no_bank_reference')
    const key = `${account}|${bankReference}`
    if (references.has(key)) return skip('repeated_reference')
    references.add(key)
    const credits = creditsOf(entry, { origin: normalizeIban(account), bankReference, today })
    return { bankReference, reason: null, credits, payments }
  })
}

const detailsOf = (entry: XmlElement): XmlElement[] => elementsAt(entry, 'NtryDtls/TxDtls')

/** ISO 20022 allows 35 characters; no bank’s reference is longer than this. */
const MAX_REFERENCE_LENGTH = 140

/** The bank's reference of the entry, or of its only payment. `NtryRef` is unique within one statement only. */
function referenceOf(entry: XmlElement): string | null {
  const [only, ...others] = detailsOf(entry)
  const ofPayment = only && others.length === 0 ? textAt(only, 'Refs/AcctSvcrRef') : null
  const reference = textAt(entry, 'AcctSvcrRef') ?? ofPayment
  return reference && reference.length <= MAX_REFERENCE_LENGTH ? reference : null
}

function skipReasonOf(entry: XmlElement, bankReference: string | null): SkippedEntry['reason'] | undefined {
  if (textAt(entry, 'CdtDbtInd') !== 'CRDT') return 'not_a_credit'
  if (elementsAt(entry, 'Amt')[0]?.attributes.get('Ccy') !== 'EUR') return 'not_euro'
  if (textAt(entry, 'Sts/Cd', 'Sts') !== 'BOOK') return 'not_booked'
  if (/^(true|1)$/.test(textAt(entry, 'RvslInd') ?? '')) return 'reversal'
  if (isReturn(entry)) return 'returned_payment'
  if (!amountAt(entry, 'Amt')) return 'amount_unreadable'
  return bankReference === null ? 'no_bank_reference' : undefined
}

interface Booking {
  readonly origin: string
  readonly bankReference: string
  readonly today: string
}

/**
 * One credit for each payer's payment of the entry; a single unmatched one if the amounts are missing or do not sum
 * to it.
 */
function creditsOf(entry: XmlElement, booking: Booking): ReceivedCredit[] {
  const amount = amountAt(entry, 'Amt') ?? NO_CENTS
  const details = detailsOf(entry)
  if (details.length <= 1) return [creditFrom(entry, details[0] ?? entry, amount, 0, booking)]
  const amounts = amountsOf(entry)
  if (!amounts) return [{ ...creditFrom(entry, entry, amount, 0, booking), reason: 'parts_do_not_sum' }]
  return details.flatMap((detail, part) =>
    isReturned(detail) ? [] : creditFrom(entry, detail, amounts[part] ?? NO_CENTS, part, booking),
  )
}

/** The amounts of the entry's payments; undefined if they are missing or do not sum to it. */
function amountsOf(entry: XmlElement): Cents[] | undefined {
  const amounts = detailsOf(entry).map(part => amountOf(part) ?? NO_CENTS)
  return amounts.includes(NO_CENTS) || sumOf(amounts) !== amountAt(entry, 'Amt') ? undefined : amounts
}

function creditFrom(
  entry: XmlElement,
  details: XmlElement,
  amountCents: Cents,
  part: number,
  { origin, bankReference, today }: Booking,
): ReceivedCredit {
  const senderIban = textAt(details, 'RltdPties/DbtrAcct/Id/IBAN')
  return {
    amountCents,
    source: 'bank',
    origin,
    bankReference,
    part,
    // With virtual IBANs the creditor's account is the one the payer chose; the statement names the account
    // behind it.
    iban: normalizeIban(textAt(details, 'RltdPties/CdtrAcct/Id/IBAN') ?? origin),
    reference: referenceIn(details),
    senderName: textAt(details, 'RltdPties/Dbtr/Pty/Nm', 'RltdPties/Dbtr/Nm'),
    senderIban: senderIban && normalizeIban(senderIban),
    endToEndId: textAt(details, 'Refs/EndToEndId'),
    valueDate: dateOf(entry) ?? today,
    reason: null,
  }
}

/** The structured reference, then the lines of free text joined: a bank may break a line within a word. */
function referenceIn(details: XmlElement): string | null {
  const structured = elementsAt(details, 'RmtInf/Strd/CdtrRefInf/Ref')
  const lines = [...structured, ...elementsAt(details, 'RmtInf/Ustrd')].map(({ text }) => text.trim())
  return lines.join(' ').trim() || null
}

function dateOf(entry: XmlElement): string | undefined {
  const date = textAt(entry, 'ValDt/Dt', 'ValDt/DtTm', 'BookgDt/Dt', 'BookgDt/DtTm')?.slice(0, 10) ?? ''
  return /^\d{4}-\d\d-\d\d$/.test(date) && isCalendarDate(date) ? date : undefined
}

/** Rejects dates like 30 February, which `Date.parse` rolls over to March, and the year 0, which PostgreSQL does not store. */
const isCalendarDate = (date: string): boolean =>
  !date.startsWith('0000') && !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date)

interface OwnPayment {
  readonly endToEndId: string | null
  readonly notice: 'settled' | 'returned'
  readonly reasonCode: string | null
  /** Zero if the entry has several payments and gives no amount for this payment. */
  readonly amountCents: Cents
  readonly isInstant: boolean
}

/** Debits that are no returns, and returns that are credits. */
function ownPaymentsIn(entry: XmlElement): OwnPayment[] {
  const direction = textAt(entry, 'CdtDbtInd')
  const isBooked = textAt(entry, 'Sts/Cd', 'Sts') === 'BOOK'
  const isReversal = /^(true|1)$/.test(textAt(entry, 'RvslInd') ?? '')
  const isDebit = direction === 'DBIT'
  if (!isBooked || isReversal || elementsAt(entry, 'Amt')[0]?.attributes.get('Ccy') !== 'EUR') return []
  if (!isDebit && direction !== 'CRDT') return []
  const details = detailsOf(entry)
  // Such an entry is one unmatched credit: what it returns is a part of it.
  const isSum = !isDebit && !isReturn(entry) && !amountsOf(entry)
  const single = details.length === 1 ? amountAt(entry, 'Amt') : undefined
  const ours = details.filter(payment => (hasReturnCode(entry) || isReturned(payment)) !== isDebit)
  return ours.map(payment => ({
    endToEndId: textAt(payment, 'Refs/EndToEndId'),
    notice: isDebit ? 'settled' : 'returned',
    reasonCode: textAt(payment, 'RtrInf/Rsn/Cd'),
    amountCents: (isSum ? undefined : (amountOf(payment) ?? single)) ?? NO_CENTS,
    isInstant: (textAt(payment, FAMILY) ?? textAt(entry, FAMILY)) === 'IRCT',
  }))
}

/** The family of a payment in the ISO 20022 code set; `IRCT` are issued real-time credit transfers. */
const FAMILY = 'BkTxCd/Domn/Fmly/Cd'
/** Within the family; `RRTN` are returns. */
const SUBFAMILY = 'BkTxCd/Domn/Fmly/SubFmlyCd'

const amountOf = (payment: XmlElement): Cents | undefined =>
  amountAt(payment, 'Amt') ?? amountAt(payment, 'AmtDtls/TxAmt/Amt')

const hasReturnCode = (part: XmlElement): boolean => textAt(part, SUBFAMILY) === 'RRTN'

const isReturned = (payment: XmlElement): boolean =>
  hasReturnCode(payment) || elementsAt(payment, 'RtrInf').length > 0

/** The money of a returned payment is not that of a payer. The code of a return may be given for the payments alone. */
function isReturn(entry: XmlElement): boolean {
  const details = detailsOf(entry)
  return hasReturnCode(entry) || (details.length > 0 && details.every(isReturned))
}

/** Exact cents of a positive amount below ten billion; undefined for any other. Surplus trailing zeros are accepted. */
function amountAt(element: XmlElement, path: string): Cents | undefined {
  const [, whole, decimals = ''] = /^\+?(\d{1,10})(?:\.(\d{0,2})0*)?$/.exec(textAt(element, path) ?? '') ?? []
  if (whole === undefined) return undefined
  const amount = cents(whole + decimals.padEnd(2, '0'))
  return amount === NO_CENTS ? undefined : amount
}

import { type BankFile, MOST_TOLD, readCamt } from './camt.ts'
import { readPain002, type StatusReport } from './pain002.ts'
import type { ReportedPayment } from './payment-notice.ts'
import { textAt, UnreadableXml, type XmlElement } from './xml-reader.ts'

export const messageKinds = ['pain.002', 'camt.053', 'camt.054'] as const

export interface BankMessage {
  readonly kind: (typeof messageKinds)[number]
  readonly messageId: string
  readonly payments: readonly ReportedPayment[]
  /** The content of a pain.002; null for any other message. */
  readonly report: StatusReport | null
  /** The bookings of a camt message; null for a pain.002. */
  readonly bookings: BankFile | null
}

/** A file of the bank, whichever of the three it is. */
export function readMessage(document: XmlElement, today: string): BankMessage {
  if (document.children[0]?.name === 'CstmrPmtStsRpt') return ofReport(document)
  const bookings = readCamt(document, today)
  const { kind, messageId, skipped } = bookings
  return { kind, messageId, payments: skipped.flatMap(entry => entry.payments), report: null, bookings }
}

function ofReport(document: XmlElement): BankMessage {
  const messageId = textAt(document, 'CstmrPmtStsRpt/GrpHdr/MsgId')
  if (!messageId) throw new UnreadableXml('The message has no GrpHdr/MsgId.')
  const report = readPain002(document)
  if (report.payments.length > MOST_TOLD)
    throw new UnreadableXml(`It tells of more than ${MOST_TOLD} payments: ask for smaller files.`)
  return { kind: 'pain.002', messageId, payments: report.payments, report, bookings: null }
}

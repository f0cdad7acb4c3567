import { type BankFile, MAX_ITEMS, readCamt } from './camt.ts'
import { readPain002, type StatusReport } from './pain002.ts'
import type { PaymentNotice } from './payment-notice.ts'
import { textAt, UnreadableXml, type XmlElement } from './xml-reader.ts'

export const messageKinds = ['pain.002', 'camt.053', 'camt.054'] as const

export interface BankMessage {
  readonly kind: (typeof messageKinds)[number]
  readonly messageId: string
  readonly notices: readonly PaymentNotice[]
  readonly report: StatusReport | null
  readonly statement: BankFile | null
}

export function readMessage(document: XmlElement, today: string): BankMessage {
  if (document.children[0]?.name === 'CstmrPmtStsRpt') return readStatusReport(document)
  const bookings = readCamt(document, today)
  const { kind, messageId, skipped } = bookings
  return {
    kind,
    messageId,
    notices: skipped.flatMap(({ payments }) => payments.map(payment => ({ ...payment, ...NO_STATUS }))),
    report: null,
    statement: bookings,
  }
}

const NO_STATUS = { status: null, payeeCheck: null }

function readStatusReport(document: XmlElement): BankMessage {
  const messageId = textAt(document, 'CstmrPmtStsRpt/GrpHdr/MsgId')
  if (!messageId) throw new UnreadableXml('The message has no GrpHdr/MsgId.')
  const report = readPain002(document)
  if (report.notices.length > MAX_ITEMS)
    throw new UnreadableXml(`It has more than ${MAX_ITEMS} payments. Ask the bank for smaller files.`)
  return { kind: 'pain.002', messageId, notices: report.notices, report, statement: null }
}

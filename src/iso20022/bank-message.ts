import { type BankFile, MAX_BANK_FILE_ENTRIES, parseCamt } from './camt.ts'
import { type PaymentStatusReport, parsePain002 } from './pain002.ts'
import type { PaymentNotice } from './payment-notice.ts'
import { textAt, UnreadableXml, type XmlElement } from './xml-reader.ts'

export const bankMessageKinds = ['pain.002', 'camt.053', 'camt.054'] as const

export interface BankMessage {
  readonly kind: (typeof bankMessageKinds)[number]
  readonly messageId: string
  readonly notices: readonly PaymentNotice[]
  readonly report: PaymentStatusReport | null
  readonly statement: BankFile | null
}

export function parseBankMessage(document: XmlElement, today: string): BankMessage {
  if (document.children[0]?.name === 'CstmrPmtStsRpt') return readStatusReport(document)
  const bookings = parseCamt(document, today, 'It is none of pain.002, camt.053 and camt.054.')
  const { kind, messageId, payments } = bookings
  return {
    kind,
    messageId,
    notices: payments.map(payment => ({ ...payment, ...NO_STATUS })),
    report: null,
    statement: bookings,
  }
}

const NO_STATUS = { status: null, payeeCheck: null }

function readStatusReport(document: XmlElement): BankMessage {
  const messageId = textAt(document, 'CstmrPmtStsRpt/GrpHdr/MsgId')
  if (!messageId) throw new UnreadableXml('The message has no GrpHdr/MsgId.')
  const report = parsePain002(document)
  if (report.notices.length > MAX_BANK_FILE_ENTRIES)
    throw new UnreadableXml(
      `It has more than ${MAX_BANK_FILE_ENTRIES} payments. Ask the bank for smaller files.`,
    )
  return { kind: 'pain.002', messageId, notices: report.notices, report, statement: null }
}

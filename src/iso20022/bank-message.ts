import type { BankFile } from '../money/billing/billing.ts'
import { MOST_TOLD, readCamt } from '../money/incoming/thread.ts'
import type { Euros } from '../values/money.ts'
import { readPain002, type StatusReport } from './pain002.ts'
import { textAt, UnreadableXml, type XmlElement } from './xml-reader.ts'

/** What a bank's files tell of payments of ours. */
export const ownNotices = ['settled', 'rejected', 'returned'] as const
export type OwnNotice = (typeof ownNotices)[number]

export const messageKinds = ['pain.002', 'camt.053', 'camt.054'] as const

/** One thing that is said of a payment; no notice where it says that it is on its way. */
export interface Said {
  readonly endToEndId: string | null
  readonly notice: OwnNotice | null
  readonly reasonCode: string | null
  /** Null in a report of statuses, which names none. */
  readonly amountEuros: Euros | null
}

export interface BankMessage {
  readonly kind: (typeof messageKinds)[number]
  readonly messageId: string
  readonly said: readonly Said[]
  /** Of a status report: the file of ours that it answers. */
  readonly report: StatusReport | null
  /** Of a statement or notification: its bookings. */
  readonly bookings: BankFile | null
}

/** A file of the bank, whichever of the three it is. */
export function readMessage(document: XmlElement, today: string): BankMessage {
  if (document.children[0]?.name === 'CstmrPmtStsRpt') return ofReport(document)
  const bookings = readCamt(document, today)
  const { kind, messageId, skipped } = bookings
  return { kind, messageId, said: skipped.flatMap(({ payments }) => payments), report: null, bookings }
}

function ofReport(document: XmlElement): BankMessage {
  const messageId = textAt(document, 'CstmrPmtStsRpt/GrpHdr/MsgId')
  if (!messageId) throw new UnreadableXml('The message has no GrpHdr/MsgId.')
  const report = readPain002(document)
  if (report.said.length > MOST_TOLD)
    throw new UnreadableXml(`It tells of more than ${MOST_TOLD} payments: ask for smaller files.`)
  return { kind: 'pain.002', messageId, said: report.said, report, bookings: null }
}

import type { NoticeKind, PaymentNotice } from './payment-notice.ts'
import { reasonCode } from './reason-codes.ts'
import { elementsAt, textAt, UnreadableXml, type XmlElement } from './xml-reader.ts'

/** A bank's answer to a pain.001: notices for payments it names, and one for all others in the file. */
export interface StatusReport {
  readonly originalMessageId: string
  readonly notices: readonly PaymentNotice[]
  /** Null if the report changes nothing about the payments it does not name. */
  readonly othersNotice: Pick<PaymentNotice, 'notice' | 'reasonCode'> | null
}

/** The ISO payment statuses that are final for us; all others mean that the payment is under way. */
const noticeByStatus: Readonly<Record<string, NoticeKind>> = {
  RJCT: 'rejected',
  CANC: 'rejected',
  ACSC: 'settled',
  ACCC: 'settled',
}

const statuses =
  /^(ACCC|ACCP|ACFC|ACIS|ACPD|ACSC|ACSP|ACTC|ACWC|ACWP|BLCK|CANC|PART|PATC|PDNG|PRES|RCVD|RJCT)$/

/** Reads a pain.002 of any version. */
export function readPain002(document: XmlElement): StatusReport {
  const [body] = document.children
  if (document.name !== 'Document' || !document.namespace.includes(':pain.002.') || !body)
    throw new UnreadableXml('It is no pain.002 message.')
  const original = elementsAt(body, 'OrgnlGrpInfAndSts')[0]
  const originalMessageId = original && textAt(original, 'OrgnlMsgId')
  if (!original || !originalMessageId) throw new UnreadableXml('It does not say which message it answers.')
  if (!textAt(original, 'OrgnlMsgNmId')?.startsWith('pain.001'))
    throw new UnreadableXml('It answers no pain.001 message.')
  const parts = elementsAt(body, 'OrgnlPmtInfAndSts')
  const overall = [...parts.map(part => effectOf(part, 'PmtInfSts')), effectOf(original, 'GrpSts')]
  return {
    originalMessageId,
    notices: parts.flatMap(part => elementsAt(part, 'TxInfAndSts')).map(noticeOf),
    othersNotice: overall.find(effect => effect.notice !== null) ?? null,
  }
}

function noticeOf(payment: XmlElement): PaymentNotice {
  return {
    endToEndId: textAt(payment, 'OrgnlEndToEndId'),
    ...effectOf(payment, 'TxSts'),
    amountEuros: null,
  }
}

function effectOf(element: XmlElement, path: string): Pick<PaymentNotice, 'notice' | 'reasonCode'> {
  const status = textAt(element, path)
  if (status !== null && !statuses.test(status))
    throw new UnreadableXml(`${path} is none of ISO 20022: ${status.slice(0, 40)}.`)
  const notice = noticeByStatus[status ?? ''] ?? null
  const code = textAt(element, 'StsRsnInf/Rsn/Cd')
  return { notice, reasonCode: notice === 'rejected' && code && reasonCode.test(code) ? code : null }
}

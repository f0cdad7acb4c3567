import type { NoticeKind, PaymentNotice } from './payment-notice.ts'
import { reasonCode } from './reason-codes.ts'
import { elementsAt, textAt, UnreadableXml, type XmlElement } from './xml-reader.ts'

/** What a bank says of a file: of payments by their name, and of all others in it. */
export interface StatusReport {
  readonly originalMessageId: string
  readonly notices: readonly PaymentNotice[]
  /** Null: of the others it says nothing that would change them. */
  readonly othersNotice: Pick<PaymentNotice, 'notice' | 'reasonCode'> | null
}

/** Of ISO's payment statuses those after which a payment is different; the others say that it is on its way. */
const noticeByStatus: Readonly<Record<string, NoticeKind>> = {
  RJCT: 'rejected',
  CANC: 'rejected',
  ACSC: 'settled',
  ACCC: 'settled',
}

const statuses =
  /^(ACCC|ACCP|ACFC|ACIS|ACPD|ACSC|ACSP|ACTC|ACWC|ACWP|BLCK|CANC|PART|PATC|PDNG|PRES|RCVD|RJCT)$/

/** A report of the status of payments, any version of it. */
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

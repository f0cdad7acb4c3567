import type {
  PaymentNotice,
  PaymentNoticeKind,
  ReportedPayeeCheck,
  ReportedStatus,
} from './payment-notice.ts'
import { elementsAt, textAt, UnreadableXml, type XmlElement } from './xml-reader.ts'

export interface PaymentStatusReport {
  readonly originalMessageId: string
  readonly notices: readonly PaymentNotice[]
  /** Null if the report changes nothing about the payments that it does not name. */
  readonly othersNotice: ReportedStatus | null
  readonly unknown: readonly ReportedStatus[]
  /** It says whether the payees are verified, and nothing else: the bank’s report on the payments is still to come. */
  readonly onlyVerifies: boolean
}

/** The final ISO payment statuses; all others mean that the payment is under way. */
const noticeByStatus: ReadonlyMap<string, PaymentNoticeKind> = new Map([
  ['RJCT', 'rejected'],
  ['CANC', 'rejected'],
  ['ACSC', 'settled'],
  ['ACCC', 'settled'],
])

/** The statuses of the verification of payee; `RVCM` means that some payees of a file do not match. */
const resultByStatus: ReadonlyMap<string, ReportedPayeeCheck['result']> = new Map([
  ['RCVC', 'match'],
  ['RVMC', 'close_match'],
  ['RVNM', 'no_match'],
  ['RVNA', 'not_possible'],
  ['RVCM', 'not_possible'],
])
export const payeeVerificationCodes = ['RCVC', 'RVMC', 'RVNM', 'RVNA', 'RVCM'] as const

const underWay = /^(ACCP|ACFC|ACIS|ACPD|ACSP|ACTC|ACWC|ACWP|BLCK|PART|PATC|PDNG|PRES|RCVD)$/

/** A bank may send any other status; it is shown to a person. */
export const isKnownPaymentStatus = (status: string): boolean =>
  noticeByStatus.has(status) || resultByStatus.has(status) || underWay.test(status)

const MAX_CODE = 35
const MAX_NAME = 140

export function parsePain002(document: XmlElement): PaymentStatusReport {
  const [body] = document.children
  if (document.name !== 'Document' || !document.namespace.includes(':pain.002.') || !body)
    throw new UnreadableXml('It is not a pain.002 message.')
  const original = elementsAt(body, 'OrgnlGrpInfAndSts')[0]
  const originalMessageId = original && textAt(original, 'OrgnlMsgId')
  if (!original || !originalMessageId) throw new UnreadableXml('It does not say which message it answers.')
  if (!textAt(original, 'OrgnlMsgNmId')?.startsWith('pain.001'))
    throw new UnreadableXml('It does not answer a pain.001 message.')
  const ofGroup = statusOf(original, 'GrpSts')
  const parts = elementsAt(body, 'OrgnlPmtInfAndSts').map(part => ({
    ofPart: statusOf(part, 'PmtInfSts'),
    payments: elementsAt(part, 'TxInfAndSts'),
  }))
  const notices = parts.flatMap(({ ofPart, payments }) =>
    payments.map(payment => noticeOf(payment, [ofPart, ofGroup])),
  )
  const overall = [...parts.map(({ ofPart }) => ofPart), ofGroup]
  return {
    originalMessageId,
    notices,
    othersNotice: othersNoticeOf(overall, notices),
    unknown: unknownIn(overall),
    onlyVerifies: onlyVerifyPayees([...overall, ...notices]),
  }
}

/** `RVCM` says nothing about the other payments if the report names those that do not match. */
const othersNoticeOf = (
  overall: readonly ReportedStatus[],
  notices: readonly PaymentNotice[],
): ReportedStatus | null =>
  overall.find(
    ({ notice, status }) =>
      notice !== null && !(status === 'RVCM' && notices.some(({ payeeCheck }) => payeeCheck)),
  ) ?? null

function onlyVerifyPayees(reported: readonly ReportedStatus[]): boolean {
  const given = reported.filter(({ status }) => status !== null)
  return given.length > 0 && given.every(({ payeeCheck }) => payeeCheck !== null)
}

const unknownIn = (overall: readonly ReportedStatus[]): ReportedStatus[] => [
  ...new Map(
    overall
      .filter(({ status }) => status && !isKnownPaymentStatus(status))
      .map(entry => [entry.status, entry]),
  ).values(),
]

function noticeOf(payment: XmlElement, overall: readonly ReportedStatus[]): PaymentNotice {
  const own = statusOf(payment, 'TxSts')
  const reported = own.status === null ? ofTheWhole(own, overall) : own
  return { endToEndId: textAt(payment, 'OrgnlEndToEndId'), ...reported, amountCents: null }
}

/** A payment may be named for its reason alone: the final status of its part or of the file is then its own. */
function ofTheWhole(own: ReportedStatus, overall: readonly ReportedStatus[]): ReportedStatus {
  const whole = overall.find(({ notice }) => notice === 'rejected' || notice === 'settled')
  return whole ? { ...whole, reasonCode: own.reasonCode ?? whole.reasonCode } : own
}

function statusOf(element: XmlElement, path: string): ReportedStatus {
  const status = textAt(element, path)?.slice(0, MAX_CODE) ?? null
  const reason = textAt(element, 'StsRsnInf/Rsn/Cd', 'StsRsnInf/Rsn/Prtry')
  const payeeCheck = payeeCheckOf(status ?? '', element)
  return {
    status,
    notice: payeeCheck ? 'payee_checked' : (noticeByStatus.get(status ?? '') ?? null),
    reasonCode: reason?.slice(0, MAX_CODE) ?? null,
    payeeCheck,
  }
}

/** For a close match only, banks give the known name in the lines of the additional information. */
function payeeCheckOf(code: string, element: XmlElement): ReportedPayeeCheck | null {
  const result = resultByStatus.get(code)
  if (!result) return null
  const lines = elementsAt(element, 'StsRsnInf/AddtlInf').map(({ text }) => text.replace(/^\s*["“]/, ''))
  const name = lines.join('').trim().slice(0, MAX_NAME)
  return { result, suggestedName: (result === 'close_match' && name) || null, code }
}

export const payeeCheckFromCode = (
  code: (typeof payeeVerificationCodes)[number],
  suggestedName: string | null,
): ReportedPayeeCheck => ({ result: resultByStatus.get(code) ?? 'not_possible', suggestedName, code })

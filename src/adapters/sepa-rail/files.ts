import { isValidPain001Order, type SepaDebtor, writePain001 } from '../../iso20022/pain001.ts'
import type {
  BankFileHandOver,
  PaymentFileOrder,
  PaymentFileTime,
  SepaPayment,
  SepaPaymentStatus,
  SepaRail,
  SepaRailCall,
  SepaScheme,
} from '../../ports/sepa-rail.ts'
import {
  addBankHours,
  addCalendarDays,
  atBankTime,
  bankDateOf,
  bankDayOnOrAfter,
} from '../../values/bank-calendar.ts'

export interface PaymentFileQueue {
  /** Null for a payment whose time is over: it is not put. */
  put(payment: SepaPayment, call: SepaRailCall): Promise<QueuedPaymentStatus | null>
  statusOf(payment: SepaPayment, call: SepaRailCall): Promise<QueuedPaymentStatus | null>
  remove(payment: SepaPayment, call: SepaRailCall): Promise<QueuedPaymentStatus | null>
}

export type QueuedPaymentStatus = 'waiting' | 'ordered' | 'taken_out'

interface ByFiles {
  readonly debtor: SepaDebtor
  readonly cutOffs: readonly string[]
  /** Hours of bank days until a report is late. 0: the bank sends none. */
  readonly reportHours: number
  readonly queue: PaymentFileQueue
  readonly files: BankFileHandOver
}

const statusFor = (standing: QueuedPaymentStatus): SepaPaymentStatus =>
  standing === 'taken_out'
    ? { status: 'rejected', reasonCode: 'FOCR' }
    : { status: 'pending', reasonCode: null }

const singlePayment = (payment: SepaPayment): PaymentFileOrder => ({
  messageId: payment.endToEndId,
  madeAt: payment.submittedAt,
  executeOn: bankDateOf(payment.submittedAt),
  scheme: payment.scheme,
  payments: [payment],
})

/** A bank that exchanges files and answers no inquiries. Its reports arrive as files, and become notices. */
export const sepaFileRail = ({ debtor, cutOffs, reportHours, queue, files }: ByFiles): SepaRail => ({
  verifyPayee: async () => ({ result: 'not_possible', suggestedName: null }),

  async submit(payment, call) {
    const standing = await queue.statusOf(payment, call)
    if (standing) return statusFor(standing)
    if (!isValidPain001Order(singlePayment(payment), debtor))
      return { status: 'rejected', reasonCode: 'FF01' }
    const put = await queue.put(payment, call)
    return put ? statusFor(put) : { status: 'rejected', reasonCode: 'TM01' }
  },

  async statusOf(payment, call) {
    const standing = await queue.statusOf(payment, call)
    return standing ? statusFor(standing) : { status: 'unknown', reasonCode: null }
  },

  recall: async (payment, call) =>
    (await queue.remove(payment, call)) === 'taken_out'
      ? { status: 'accepted', reasonCode: 'FOCR' }
      : { status: 'refused', reasonCode: NOT_BY_FILES },

  nextFile: (scheme, at) => nextCutoff(scheme, at, cutOffs),
  message: order => writePain001(order, debtor),
  reportDueAt: (scheme, handedOverAt) =>
    scheme === 'sct_inst' || reportHours === 0 ? null : addBankHours(handedOverAt, reportHours),
  files,
})

/** The service's own reason code: see `src/iso20022/reason-codes.ts`. */
const NOT_BY_FILES = 'not_by_files'

/** Instant payments go at once, on any day; others wait for the next cut-off of a bank day. */
export function nextCutoff(scheme: SepaScheme, at: Date, cutOffs: readonly string[]): PaymentFileTime {
  const today = bankDateOf(at)
  return scheme === 'sct_inst'
    ? { closesAt: at, executeOn: today }
    : nextCutOff(bankDayOnOrAfter(today), at, cutOffs)
}

function nextCutOff(day: string, at: Date, cutOffs: readonly string[]): PaymentFileTime {
  const times = cutOffs.map(time => atBankTime(day, time))
  const closesAt = times.find(time => time > at)
  return closesAt
    ? { closesAt, executeOn: day }
    : nextCutOff(bankDayOnOrAfter(addCalendarDays(day)), at, cutOffs)
}

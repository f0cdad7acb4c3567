import { canBeOrdered, type Debtor, pain001 } from '../../iso20022/pain001.ts'
import type {
  FileTime,
  HandOver,
  Order,
  Payment,
  PaymentStatus,
  RailCall,
  Scheme,
  SepaRail,
} from '../../ports/sepa-rail.ts'
import { addDays, atBankTime, bankDateOf, bankDayOnOrAfter } from '../../values/bank-calendar.ts'
import { clock } from '../../values/clock.ts'

export interface Queue {
  put(payment: Payment, call: RailCall): Promise<void>
  statusOf(payment: Payment, call: RailCall): Promise<QueueStatus | null>
  remove(payment: Payment, call: RailCall): Promise<QueueStatus | null>
}

export type QueueStatus = 'waiting' | 'ordered' | 'taken_out'

interface ByFiles {
  readonly debtor: Debtor
  readonly cutOffs: readonly string[]
  readonly queue: Queue
  readonly files: HandOver
}

const statusFor = (standing: QueueStatus): PaymentStatus =>
  standing === 'taken_out'
    ? { status: 'rejected', reasonCode: 'FOCR' }
    : { status: 'pending', reasonCode: null }

const singlePayment = (payment: Payment): Order => ({
  messageId: payment.endToEndId,
  madeAt: payment.submittedAt,
  executeOn: bankDateOf(payment.submittedAt),
  scheme: payment.scheme,
  payments: [payment],
})

/** A bank that exchanges files and answers no inquiries. Its reports arrive as files, and become notices. */
export const railByFiles = ({ debtor, cutOffs, queue, files }: ByFiles): SepaRail => ({
  verifyPayee: async () => ({ result: 'not_possible', suggestedName: null }),

  async submit(payment, call) {
    const standing = await queue.statusOf(payment, call)
    if (standing) return statusFor(standing)
    if (payment.until && clock.real() > payment.until) return { status: 'rejected', reasonCode: 'TM01' }
    if (!canBeOrdered(singlePayment(payment), debtor)) return { status: 'rejected', reasonCode: 'FF01' }
    await queue.put(payment, call)
    return statusFor('waiting')
  },

  async statusOf(payment, call) {
    const standing = await queue.statusOf(payment, call)
    return standing ? statusFor(standing) : { status: 'unknown', reasonCode: null }
  },

  recall: async (payment, call) =>
    (await queue.remove(payment, call)) === 'taken_out'
      ? { status: 'accepted', reasonCode: 'FOCR' }
      : { status: 'refused', reasonCode: NOT_BY_FILES },

  nextFile: (scheme, at) => nextFile(scheme, at, cutOffs),
  message: order => pain001(order, debtor),
  files,
})

/** The service's own reason code: see `src/iso20022/reason-codes.ts`. */
const NOT_BY_FILES = 'not_by_files'

/** Instant payments go at once, on any day; others wait for the next cut-off of a bank day. */
export function nextFile(scheme: Scheme, at: Date, cutOffs: readonly string[]): FileTime {
  const today = bankDateOf(at)
  return scheme === 'sct_inst'
    ? { closesAt: at, executeOn: today }
    : nextCutOff(bankDayOnOrAfter(today), at, cutOffs)
}

function nextCutOff(day: string, at: Date, cutOffs: readonly string[]): FileTime {
  const times = cutOffs.map(time => atBankTime(day, time))
  const closesAt = times.find(time => time > at)
  return closesAt ? { closesAt, executeOn: day } : nextCutOff(bankDayOnOrAfter(addDays(day)), at, cutOffs)
}

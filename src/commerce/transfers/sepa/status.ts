import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { minuteInWords } from '../../../values/clock.ts'
import { formatEuros } from '../../../values/money.ts'
import type { TransferSignal } from '../process.ts'
import { Transfer, transferMachine, waitsForPayee } from '../transfer.ts'
import type { stepsApi } from './steps-api.ts'

type Next = 'verify' | 'submit' | 'lapse' | 'inquire'

/** The next step of the process, and whether it is taken at once or when it is due. */
function nextOf(transfer: Transfer): { next: Next; atOnce: boolean } | null {
  if (transferMachine.isFinal(transfer.status)) return null
  if (transfer.status === 'submitted' || transfer.recall?.status === 'requested')
    return { next: 'inquire', atOnce: false }
  if (transfer.status === 'completed') return null
  if (transfer.isReady()) return { next: 'submit', atOnce: true }
  return transfer.payeeCheck ? { next: 'lapse', atOnce: false } : { next: 'verify', atOnce: true }
}

/** One line for the operator who looks at the run; it stays in Temporal, which is told no names. */
function summaryOf(transfer: Transfer): string {
  const { amountEuros, mode, beneficiaryId, status, recall, reason, payeeCheck, dueAt } = transfer
  const payee = beneficiaryId ?? 'the account that it came from'
  const head = `Transfer of ${formatEuros(amountEuros)} to ${payee} in ${mode} mode: ${status}`
  const until = dueAt?.toISOString().slice(0, 16).replace('T', ' ')
  if (recall?.status === 'requested') return `${head}, and asked back`
  if (waitsForPayee(transfer))
    return status === 'verifying'
      ? `${head}, waits for confirmPayee or cancel until ${until} UTC (${payeeCheck?.result})`
      : `${head}, waits for confirmPayee (${payeeCheck?.result})`
  // The words of who cancelled it are for the record.
  return reason && reason.code !== 'cancelled' ? `${head}, ${reason.code}: ${reason.message}` : head
}

const NEXT: Readonly<Record<Next, string>> = {
  verify: 'for the payee’s bank to answer about the name',
  submit: 'for the payment to be submitted',
  lapse: 'for a person to confirm the payee',
  inquire: 'for the rail to say how it ends',
}

/** Completes "it waits" for the operator. */
function waitsFor(transfer: Transfer, next: Next): string {
  const { recall, dueAt } = transfer
  const what = recall?.status === 'requested' ? 'for the answer to the recall' : NEXT[next]
  if (!dueAt || next === 'verify' || next === 'submit') return what
  if (next === 'inquire' && waitsForPayee(transfer))
    return `for a person to confirm the payee, and ${what}, which is asked at ${minuteInWords(dueAt)}`
  return next === 'lapse'
    ? `${what}, until ${minuteInWords(dueAt)}`
    : `${what}, which is asked at ${minuteInWords(dueAt)}`
}

/** Signals that change something: what is submitted cannot be cancelled any more. */
function signalsOf(transfer: Transfer): TransferSignal[] {
  const confirms: TransferSignal[] = waitsForPayee(transfer) ? ['confirmPayee'] : []
  const mayBeCancelled = transfer.status === 'verifying' || transfer.status === 'created'
  return mayBeCancelled ? [...confirms, 'cancel'] : confirms
}

export const status: HandlerOf<typeof stepsApi.status> = async ({ params }, { records, now, refuse }) => {
  const transfer = await records.findOne(Transfer, { id: params.id })
  if (!transfer) return refuse('transfer_not_found')
  const coming = nextOf(transfer)
  const dueInMs = coming?.atOnce ? 0 : (transfer.dueAt?.getTime() ?? 0) - now.getTime()
  return {
    status: transfer.status,
    summary: summaryOf(transfer),
    closed: coming === null,
    dueInMs: coming ? dueInMs : null,
    waitsFor: coming && waitsFor(transfer, coming.next),
    signals: coming ? signalsOf(transfer) : [],
    next: coming?.next ?? null,
  }
}

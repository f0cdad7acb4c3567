import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { formatEuros } from '../../../values/money.ts'
import { Transfer, transferMachine } from '../transfer.ts'
import type { stepsApi } from './steps-api.ts'

type Next = 'verify' | 'submit' | 'lapse' | 'inquire'

/** What its process does with it, and whether that has time until it is due. */
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
  const head = `Transfer of ${formatEuros(amountEuros)} to ${beneficiaryId} in ${mode} mode: ${status}`
  const until = dueAt?.toISOString().slice(0, 16).replace('T', ' ')
  if (recall?.status === 'requested') return `${head}, and asked back`
  if (status === 'verifying' && transfer.isToBeConfirmed())
    return `${head}, waits for confirmPayee or cancel until ${until} UTC (${payeeCheck?.result})`
  // The words of who cancelled it are for the record.
  return reason && reason.code !== 'cancelled' ? `${head}, ${reason.code}: ${reason.message}` : head
}

export const look: HandlerOf<typeof stepsApi.look> = async ({ params }, context) => {
  const { em, now, refuse } = context
  const transfer = await em.findOne(Transfer, { id: params.id })
  if (!transfer) return refuse('transfer_not_found')
  const coming = nextOf(transfer)
  const dueInMs = coming?.atOnce ? 0 : (transfer.dueAt?.getTime() ?? 0) - now.getTime()
  return {
    status: transfer.status,
    summary: summaryOf(transfer),
    closed: coming === null,
    dueInMs: coming ? dueInMs : null,
    next: coming?.next ?? null,
  }
}

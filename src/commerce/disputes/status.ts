import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { minuteInWords } from '../../values/clock.ts'
import { formatEuros } from '../../values/money.ts'
import { Dispute, isUndecided } from './dispute.ts'
import { type ProcessorCallKind, pendingCall } from './schedule.ts'
import type { stepsApi } from './steps-api.ts'

const callsInWords: Readonly<Record<ProcessorCallKind, string>> = {
  open: 'for the card processor to open it',
  document: 'for the card processor to take the evidence',
  file: 'for the card processor to submit it',
  withdraw: 'for the card processor to take it back',
  inquire: 'for the card network to decide',
}

/** How it stands, for the line of its run: Temporal keeps it, so it names nobody. */
const summaryOf = ({ mode, amountEuros, reason, status, creditedEuros }: Dispute): string =>
  `Dispute of ${formatEuros(amountEuros)} in ${mode} mode (${reason}): ${status}, ${formatEuros(creditedEuros)} given back`

/** Completes the sentence "The process waits …" for operators. */
function waitsFor(dispute: Dispute): string {
  const { evidenceDueAt, callDueAt } = dispute
  const call = pendingCall(dispute)
  if (call === null) return `for evidence${evidenceDueAt ? `, until ${minuteInWords(evidenceDueAt)}` : ''}`
  const when = callDueAt ? `, which is asked at ${minuteInWords(callDueAt)}` : ''
  return `${callsInWords[call]}${when}`
}

export const processStatus: HandlerOf<typeof stepsApi.processStatus> = async (
  { params },
  { records, now, refuse },
) => {
  const dispute = await records.findOne(Dispute, { id: params.id })
  if (!dispute) return refuse('dispute_not_found')
  const { status, dueAt, callDueAt } = dispute
  const closed = !isUndecided(dispute) && callDueAt === null
  const isCall = callDueAt !== null && callDueAt.getTime() === dueAt?.getTime()
  return {
    status,
    summary: summaryOf(dispute),
    closed,
    dueInMs: closed || !dueAt ? null : dueAt.getTime() - now.getTime(),
    waitsFor: closed ? null : waitsFor(dispute),
    signals: [],
    next: closed || !dueAt ? null : isCall ? pendingCall(dispute) : ('deadline' as const),
  }
}

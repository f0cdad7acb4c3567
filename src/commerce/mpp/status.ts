import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { minuteInWords } from '../../values/clock.ts'
import { formatEuros } from '../../values/money.ts'
import { MppCredential } from './credential.ts'
import type { MppSignal } from './process.ts'
import type { stepsApi } from './steps-api.ts'

const signals: readonly MppSignal[] = ['paid', 'notPaid']

/** One line for the operator who looks at the run; it stays in Temporal, which is told no names. */
const summaryOf = ({ amountEuros, mode, status, outcomeBy, cardId }: MppCredential): string => {
  const by = outcomeBy === null ? '' : `, says the ${outcomeBy}`
  return `Machine payment of ${formatEuros(amountEuros)} by ${cardId} in ${mode} mode: ${status}${by}`
}

const second = (at: Date): string => at.toISOString().slice(11, 19)

/** The steps that the request has taken, each with its time. Merchants are named in the record only. */
export function stepsOf(credential: MppCredential): string[] {
  const { sentBy, askedAt, createdAt, sentAt, answeredAt, endedAt, merchantStatus, status } = credential
  const outcome = `outcome at ${second(endedAt ?? createdAt)}: ${status}, says the ${credential.outcomeBy}`
  return [
    sentBy === 'service' ? `asked at ${second(askedAt)}: 402` : `challenge handed in at ${second(askedAt)}`,
    `checked: ${formatEuros(credential.amountEuros)} for ${credential.intentId}`,
    `minted at ${second(createdAt)}: ${credential.agentCredentialId}`,
    ...(sentAt ? [`sent at ${second(sentAt)}, once`] : []),
    ...(answeredAt ? [`answered at ${second(answeredAt)}: ${merchantStatus ?? 'not in full'}`] : []),
    ...(endedAt ? [outcome] : []),
  ]
}

type Next = 'settle' | 'deleteToken'

function nextOf({ status, dueAt }: MppCredential): Next | null {
  if (dueAt === null) return null
  return status === 'void' ? 'deleteToken' : 'settle'
}

/** Completes "it waits" for the operator. */
function waitsFor({ status, dueAt }: MppCredential): string {
  const until = dueAt ? `, until ${minuteInWords(dueAt)}` : ''
  if (status === 'sent') return `for the merchant’s answer${until}`
  return status === 'void'
    ? 'for the processor to delete the token'
    : `for somebody to say whether it was paid${until}`
}

export const status: HandlerOf<typeof stepsApi.status> = async ({ params }, { records, now, refuse }) => {
  const credential = await records.findOne(MppCredential, { id: params.id })
  if (!credential) return refuse('credential_not_found')
  const next = nextOf(credential)
  const isOpen = credential.status === 'minted' || credential.status === 'indeterminate'
  return {
    status: credential.status,
    summary: summaryOf(credential),
    closed: next === null,
    dueInMs: credential.dueAt ? credential.dueAt.getTime() - now.getTime() : null,
    waitsFor: next && waitsFor(credential),
    signals: isOpen ? [...signals] : [],
    steps: stepsOf(credential),
    next,
  }
}

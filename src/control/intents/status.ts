import { minuteInWords } from '../../values/clock.ts'
import { formatEuros } from '../../values/money.ts'
import { type Intent, intentMachine } from './intent.ts'
import type { IntentSignal } from './process.ts'

/** The line of the process in Temporal's list. Temporal keeps it, so it names nobody. */
const summaryOf = ({ amountEuros, mode, status, expiresAt }: Intent): string => {
  const until = expiresAt.toISOString().slice(0, 16).replace('T', ' ')
  const waits = status === 'created' ? `waits for approval until ${until} UTC` : status
  return `Intent of ${formatEuros(amountEuros)} in ${mode} mode: ${waits}`
}

/** Completes the sentence "The process waits …" for operators. */
function waitsFor({ status, paymentId, expiresAt }: Intent): string {
  if (paymentId) return 'for the end of its payment'
  const deadline = `until ${minuteInWords(expiresAt)}`
  return status === 'created' ? `for a person’s approval, ${deadline}` : `for its payment, ${deadline}`
}

/** The signals that would change the intent now. */
function signalsOf({ status, paymentId }: Intent): IntentSignal[] {
  if (status === 'created') return ['approve', 'deny', 'cancel']
  return paymentId ? [] : ['cancel']
}

/** The status of an intent as its process reads it. */
export function processStatusOf(intent: Intent, now: Date) {
  const closed = intentMachine.isFinal(intent.status)
  return {
    status: intent.status,
    summary: summaryOf(intent),
    closed,
    dueInMs: closed || intent.paymentId ? null : intent.expiresAt.getTime() - now.getTime(),
    waitsFor: closed ? null : waitsFor(intent),
    signals: closed ? [] : signalsOf(intent),
  }
}

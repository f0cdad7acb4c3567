import { minuteInWords } from '../../values/clock.ts'
import { type Mandate, mandateMachine } from './mandate.ts'
import type { MandateSignal } from './process.ts'

/** The line of the process in Temporal's list. Temporal keeps it, so it names nobody. */
const summaryOf = ({ agentId, mode, status, expiresAt }: Mandate): string => {
  const stands = mandateMachine.isFinal(status) ? status : `${status}, until ${minuteInWords(expiresAt)}`
  return `Mandate for ${agentId} in ${mode} mode: ${stands}`
}

/** Completes the sentence "The process waits …" for operators. */
const waitsFor = ({ status, expiresAt }: Mandate): string =>
  status === 'suspended'
    ? `for it to be resumed, until ${minuteInWords(expiresAt)}`
    : `for its end, on ${minuteInWords(expiresAt)} at the latest`

const signalsOf = ({ status }: Mandate): MandateSignal[] =>
  status === 'suspended' ? ['resume', 'revoke'] : ['suspend', 'revoke']

/** The status of a mandate as its process reads it. */
export function processStatusOf(mandate: Mandate, now: Date) {
  const closed = mandateMachine.isFinal(mandate.status)
  return {
    status: mandate.status,
    summary: summaryOf(mandate),
    closed,
    dueInMs: closed ? null : mandate.expiresAt.getTime() - now.getTime(),
    waitsFor: closed ? null : waitsFor(mandate),
    signals: closed ? [] : signalsOf(mandate),
  }
}

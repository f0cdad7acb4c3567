import { minuteInWords } from '../../values/clock.ts'
import type { RecoverySignal } from './process.ts'
import { isOpen, type Recovery } from './recovery.ts'

/** How the recovery stands, for the line of its run: Temporal keeps it, so it names nobody. */
const summaryOf = ({ personId, mode, status, readyAt }: Recovery): string => {
  const state = status === 'waiting' ? `can be stopped until ${minuteInWords(readyAt)}` : status
  return `Recovery of ${personId} in ${mode} mode: ${state}`
}

/** Completes the sentence "The process waits …" for operators. */
const waitsFor = ({ status, readyAt, expiresAt }: Recovery): string =>
  status === 'waiting'
    ? `for somebody to stop it, until ${minuteInWords(readyAt)}`
    : `for the operator’s link to be opened, until ${minuteInWords(expiresAt)}`

const signals: readonly RecoverySignal[] = ['cancel']

/** The status of a recovery as its process reads it. */
export function processStatusOf(recovery: Recovery, now: Date) {
  const closed = !isOpen(recovery)
  return {
    status: recovery.status,
    summary: summaryOf(recovery),
    closed,
    dueInMs: recovery.dueAt && recovery.dueAt.getTime() - now.getTime(),
    waitsFor: closed ? null : waitsFor(recovery),
    signals: closed ? [] : [...signals],
  }
}

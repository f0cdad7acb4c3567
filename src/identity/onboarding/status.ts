import { minuteInWords } from '../../values/clock.ts'
import { isOpen, type Onboarding, openRequestOf } from './company-onboarding.ts'
import type { OnboardingSignal } from './process.ts'

/** How it stands, for the line of its run: Temporal keeps it, so it names neither company nor people. */
const summaryOf = ({ ownerId, mode, status }: Onboarding): string =>
  `Onboarding of ${ownerId} in ${mode} mode: ${status.replace('_', ' ')}`

/** Completes "it waits" for operators. */
function waitsFor(onboarding: Onboarding): string {
  if (onboarding.status === 'submitted') return 'for the identity of each representative to be sent'
  if (onboarding.status === 'in_review') return 'for the operator to decide'
  const until = openRequestOf(onboarding)?.expiresAt
  return `for the company’s answer, until ${minuteInWords(new Date(until ?? 0))}`
}

const signalsOf = ({ status }: Onboarding): OnboardingSignal[] => {
  if (status === 'needs_information') return ['reject']
  return status === 'in_review'
    ? ['approve', 'reject', 'requestInformation']
    : ['reject', 'requestInformation']
}

/** The status of an onboarding as its process reads it. */
export function processStatusOf(onboarding: Onboarding, now: Date) {
  const closed = !isOpen(onboarding)
  return {
    status: onboarding.status,
    summary: summaryOf(onboarding),
    closed,
    dueInMs: onboarding.dueAt && onboarding.dueAt.getTime() - now.getTime(),
    waitsFor: closed ? null : waitsFor(onboarding),
    signals: closed ? [] : signalsOf(onboarding),
  }
}

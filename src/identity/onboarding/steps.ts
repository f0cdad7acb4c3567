import type { Context } from '../../kernel/contract/context.ts'
import { type OnboardingStatus, onboardingMachine } from './company-onboarding.ts'
import type { Submission } from './find.ts'
import { isComplete } from './missing.ts'
import { onboardingProcess } from './process.ts'
import { onboardingEvent } from './response.ts'
import type { onboardingEvents } from './schemas.ts'

type Stepping<Name extends keyof typeof onboardingEvents> = Pick<
  Context<never, Pick<typeof onboardingEvents, Name>>,
  'now' | 'emit' | 'wake'
>

/** Starts the process of the onboarding, or tells it to look again. */
export const wakeProcess = ({ onboarding }: Submission, { wake }: Pick<Context, 'wake'>): void =>
  wake(onboardingProcess, { id: onboarding.id, agentId: null })

/** Whether the process has something to do at once: all that a review needs is there. */
export const setDue = ({ onboarding, representatives }: Submission, now: Date): void => {
  if (onboarding.status === 'submitted') onboarding.dueAt = isComplete(representatives) ? now : null
}

/** Takes the onboarding into review. False where that is no step from where it stands. */
export function review(submission: Submission, context: Stepping<'onboarding.in_review'>): boolean {
  const { onboarding } = submission
  if (!onboardingMachine.move(onboarding, 'in_review')) return false
  onboarding.dueAt = null
  context.emit('onboarding.in_review', onboardingEvent(submission))
  wakeProcess(submission, context)
  return true
}

type Ending = Extract<OnboardingStatus, 'approved' | 'rejected' | 'withdrawn' | 'expired'>

/** Ends the onboarding. False where that is no step from where it stands. */
export function end<To extends Ending>(
  submission: Submission,
  to: To,
  context: Stepping<`onboarding.${To}`>,
): boolean {
  const { onboarding } = submission
  if (!onboardingMachine.move(onboarding, to)) return false
  Object.assign(onboarding, { endedAt: context.now, dueAt: null })
  const emit = context.emit as (event: string, data: object) => void
  emit(`onboarding.${to}`, onboardingEvent(submission))
  wakeProcess(submission, context)
  return true
}

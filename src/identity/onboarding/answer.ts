import { isDeepStrictEqual } from 'node:util'
import type { WriteContext } from '../../kernel/contract/context.ts'
import type { HandlerOf, InputOf } from '../../kernel/contract/operation.ts'
import { keysOf } from '../../values/collections.ts'
import { beginOnboardingReview, endOnboarding } from './advance.ts'
import type { onboardingApi } from './api.ts'
import { isOnboardingOpen, onboardingEndedMessage, openInformationRequest } from './company-onboarding.ts'
import { BeneficialOwner, implausibleBirthDate, personMatchKey, Representative } from './company-people.ts'
import { lockOnboarding, type OnboardingWithPeople, onboardingEvent, onboardingResponse } from './find.ts'

export const answerOnboardingQuestions: HandlerOf<typeof onboardingApi.update> = async (
  { params, body },
  context,
) => {
  const { now, emit, refuse } = context
  const unlikely = implausibleBirthDate(body, now)
  if (unlikely) return refuse('birth_unlikely', unlikely)
  const submission = await lockOnboarding(params.id, context)
  if (!submission) return refuse('onboarding_not_found')
  const { onboarding } = submission
  if (!isOnboardingOpen(onboarding)) return refuse('onboarding_ended', onboardingEndedMessage(onboarding))
  const asked = openInformationRequest(onboarding)
  if (!asked) return refuse('nothing_asked')
  const answered = { ...asked, answeredAt: now.toISOString(), answer: body.answer ?? null }
  onboarding.informationRequests = [...onboarding.informationRequests.slice(0, -1), answered]
  const changed = applyChanges(submission, body, context)
  beginOnboardingReview(submission, context)
  emit('onboarding.updated', { ...onboardingEvent(submission), changed })
  return onboardingResponse(submission)
}

export const withdrawOnboarding: HandlerOf<typeof onboardingApi.withdraw> = async ({ params }, context) => {
  const submission = await lockOnboarding(params.id, context)
  if (!submission) return context.refuse('onboarding_not_found')
  if (!endOnboarding(submission, 'withdrawn', context))
    return context.refuse('onboarding_ended', onboardingEndedMessage(submission.onboarding))
  return onboardingResponse(submission)
}

type Changes = InputOf<typeof onboardingApi.update>['body']

function applyChanges(submission: OnboardingWithPeople, changes: Changes, context: WriteContext): string[] {
  const { answer: _, representatives, beneficialOwners, ...members } = changes
  const { onboarding } = submission
  const before = valuesOf(submission)
  for (const [name, value] of Object.entries(members))
    if (value !== undefined) Object.assign(onboarding, { [name]: value })
  if (representatives) replaceRepresentatives(submission, representatives, context)
  if (beneficialOwners) replaceOwners(submission, beneficialOwners, context)
  const after = valuesOf(submission)
  const named = keysOf(changes)
  return named.filter(name => changes[name] !== undefined && !isDeepStrictEqual(before[name], after[name]))
}

function valuesOf({ onboarding, representatives, beneficialOwners }: OnboardingWithPeople) {
  const { legalName, legalForm, registerNumber, address, website, intendedUse } = onboarding
  return {
    ...{ legalName, legalForm, registerNumber, address, website, intendedUse },
    expectedMonthlyVolumeCents: onboarding.expectedMonthlyVolumeCents,
    representatives: representatives.map(({ id, country, position }) => ({ id, country, position })),
    beneficialOwners: beneficialOwners.map(({ name, dateOfBirth, country, sharePercent }) => ({
      ...{ name, dateOfBirth, country, sharePercent },
    })),
    answer: Symbol('new each time'),
  }
}

/** A person who is listed again keeps their record, verified or not; the others are removed. */
function replaceRepresentatives(
  submission: OnboardingWithPeople,
  wanted: NonNullable<Changes['representatives']>,
  { em, now }: WriteContext,
): void {
  const { id: onboardingId } = submission.onboarding
  const before = submission.representatives
  const known = new Map(before.map(person => [personMatchKey(person), person]))
  submission.representatives = wanted.map(({ country, position, ...who }, ordinal) => {
    const person = known.get(personMatchKey(who))
    if (person) return Object.assign(person, { country, position, ordinal })
    return em.create(Representative, { ...who, country, position, onboardingId, ordinal })
  })
  for (const person of before) if (!submission.representatives.includes(person)) person.removedAt = now
}

function replaceOwners(
  submission: OnboardingWithPeople,
  wanted: NonNullable<Changes['beneficialOwners']>,
  { em }: WriteContext,
): void {
  const { id: onboardingId } = submission.onboarding
  for (const owner of submission.beneficialOwners) em.remove(owner)
  submission.beneficialOwners = wanted.map((members, ordinal) =>
    em.create(BeneficialOwner, { ...members, onboardingId, ordinal }),
  )
}

import { isOpen, type Onboarding, openRequestOf } from './company-onboarding.ts'
import type { IdentityStatus, Representative } from './company-people.ts'

type Identity = Pick<Representative, 'name'> & { readonly status: IdentityStatus }

/** The words for an identity that is not verified; `verified` has none. */
const identityWords: Readonly<Record<IdentityStatus, ((name: string) => string) | undefined>> = {
  none: name => `the identity of ${name}`,
  pending: name => `the identity of ${name}, which is about to be checked`,
  in_review: name => `the identity of ${name}, which is being checked`,
  rejected: name => `the identity of ${name}: what was sent has been rejected, send it again`,
  verified: undefined,
}

/** The identities without which nothing is approved, in words. */
export const missingIdentities = (representatives: readonly Identity[]): string[] =>
  representatives.flatMap(({ name, status }) => identityWords[status]?.(name) ?? [])

/** All that is still missing before an onboarding can be approved, in words. Nothing is missing once it has ended. */
export function missingOf(
  onboarding: Pick<Onboarding, 'status' | 'informationRequests'>,
  representatives: readonly Identity[],
): string[] {
  if (!isOpen(onboarding)) return []
  const questions = openRequestOf(onboarding)?.questions ?? []
  return [...questions.map(question => `an answer to: ${question}`), ...missingIdentities(representatives)]
}

/** Whether the company has handed in all that a review needs: something that can be checked about each representative. */
export const isComplete = (representatives: readonly Identity[]): boolean =>
  representatives.every(({ status }) => status !== 'none' && status !== 'rejected')

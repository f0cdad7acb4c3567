import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import { isOpen, type Onboarding, openRequestOf } from './company-onboarding.ts'

/** How far the identity of a representative is verified; `kyc` says so by `noteIdentity`. */
export const identityMachine = machine('representative', {
  none: ['pending', 'in_review', 'verified', 'rejected'],
  pending: ['none', 'in_review', 'verified', 'rejected'],
  in_review: ['none', 'pending', 'verified', 'rejected'],
  rejected: ['pending', 'in_review', 'verified'],
  verified: [],
})
export type IdentityStatus = (typeof identityMachine.states)[number]

/** Tells one person from another in what a company writes: the same name, in any case, and the same date of birth. */
export const personKeyOf = ({ name, dateOfBirth }: { name: string; dateOfBirth: string }): string =>
  `${dateOfBirth} ${name.normalize('NFC').toLowerCase()}`

/** The members of everybody whom a company names. */
const person = () => ({
  onboardingId: p.text(),
  /** Where the person stands in the list, as the company wrote it. */
  ordinal: p.integer(),
  name: p.text(),
  dateOfBirth: p.date().$type<string>(),
  /** Where the person lives. */
  country: p.text(),
})

const representativeSchema = defineEntity({
  ...tenantTable('Representative', 'onboarding_representatives'),
  properties: {
    ...record('representative'),
    ...person(),
    position: nullable.string(),
    status: p.enum(identityMachine.states).onCreate(() => identityMachine.initial),
    /** The company has named others since. The row stays, as what was sent about the person belongs to it. */
    removedAt: nullable.instant(),
  },
})

/** Somebody who acts for the company, and whose identity must be verified. */
export class Representative extends representativeSchema.class {}
representativeSchema.setClass(Representative)

const ownerSchema = defineEntity({
  ...tenantTable('BeneficialOwner', 'onboarding_beneficial_owners'),
  properties: { ...record('beneficialowner'), ...person(), sharePercent: p.double().$type<number>() },
})

/** Somebody who owns a part of the company, or controls it. */
export class BeneficialOwner extends ownerSchema.class {}
ownerSchema.setClass(BeneficialOwner)

const ADULT_YEARS = 18

interface Born {
  readonly dateOfBirth: string
}

/** Today, this many years ago, as a date. On 29 February in a year without one it is the first of March. */
function yearsAgo(years: number, now: Date): string {
  const day = new Date(now)
  day.setUTCFullYear(day.getUTCFullYear() - years)
  return day.toISOString().slice(0, 10)
}

/** The first date of birth that cannot be right, in words that name the member. */
export function unlikelyBirth(
  {
    representatives = [],
    beneficialOwners = [],
  }: {
    readonly representatives?: readonly Born[] | undefined
    readonly beneficialOwners?: readonly Born[] | undefined
  },
  now: Date,
): string | undefined {
  const minor = representatives.findIndex(({ dateOfBirth }) => dateOfBirth > yearsAgo(ADULT_YEARS, now))
  if (minor >= 0)
    return `representatives.${minor}.dateOfBirth: a representative is at least ${ADULT_YEARS} years old`
  const unborn = beneficialOwners.findIndex(({ dateOfBirth }) => dateOfBirth > yearsAgo(0, now))
  return unborn < 0 ? undefined : `beneficialOwners.${unborn}.dateOfBirth: this day is still to come`
}

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

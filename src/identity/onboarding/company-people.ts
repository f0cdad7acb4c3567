import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import { isOnboardingOpen, type Onboarding, openInformationRequest } from './company-onboarding.ts'

/** The identity status of a representative. Identity checks write it through `noteIdentity`. */
export const representativeIdentityMachine = stateMachine('representative', {
  none: ['pending', 'in_review', 'verified', 'rejected'],
  pending: ['none', 'in_review', 'verified', 'rejected'],
  in_review: ['none', 'pending', 'verified', 'rejected'],
  rejected: ['pending', 'in_review', 'verified'],
  verified: [],
})
export type RepresentativeIdentityStatus = (typeof representativeIdentityMachine.states)[number]

/** Identifies a person within a company by the name, ignoring case, and the date of birth. */
export const personMatchKey = ({ name, dateOfBirth }: { name: string; dateOfBirth: string }): string =>
  `${dateOfBirth} ${name.normalize('NFC').toLowerCase()}`

const person = () => ({
  onboardingId: plain(p.text()),
  ordinal: p.integer(),
  name: personal(p.text(), 'name', 'moneyLaundering', 'word'),
  dateOfBirth: personal(p.date().$type<string>(), 'birth', 'moneyLaundering', { value: '1900-01-01' }),
  country: personal(p.text(), 'address', 'moneyLaundering', { value: 'ZZ' }),
})

const representativeSchema = defineEntity({
  ...tenantTable('Representative', 'onboarding_representatives'),
  properties: {
    ...recordColumns('representative'),
    ...person(),
    position: personal(nullable.string(), 'words', 'moneyLaundering', 'word'),
    status: p
      .enum(representativeIdentityMachine.states)
      .onCreate(() => representativeIdentityMachine.initial),
    /** Set when the company no longer lists the person. The row stays, because identity checks refer to it. */
    removedAt: nullable.instant(),
  },
})

export class Representative extends representativeSchema.class {}
representativeSchema.setClass(Representative)

const ownerSchema = defineEntity({
  ...tenantTable('BeneficialOwner', 'onboarding_beneficial_owners'),
  properties: { ...recordColumns('beneficialowner'), ...person(), sharePercent: p.double().$type<number>() },
})

export class BeneficialOwner extends ownerSchema.class {}
ownerSchema.setClass(BeneficialOwner)

const ADULT_YEARS = 18

interface Born {
  readonly dateOfBirth: string
}

/** The date this many years ago. For 29 February it is 1 March in other years. */
function yearsAgo(years: number, now: Date): string {
  const day = new Date(now)
  day.setUTCFullYear(day.getUTCFullYear() - years)
  return day.toISOString().slice(0, 10)
}

export function implausibleBirthDate(
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

type Identity = Pick<Representative, 'name'> & { readonly status: RepresentativeIdentityStatus }

const identityWords: Readonly<Record<RepresentativeIdentityStatus, ((name: string) => string) | undefined>> =
  {
    none: name => `the identity of ${name}`,
    pending: name => `the identity of ${name}, which is about to be checked`,
    in_review: name => `the identity of ${name}, which is being checked`,
    rejected: name => `the identity of ${name}: what was sent has been rejected, send it again`,
    verified: undefined,
  }

export const missingIdentityMessages = (representatives: readonly Identity[]): string[] =>
  representatives.flatMap(({ name, status }) => identityWords[status]?.(name) ?? [])

export function missingOnboardingItems(
  onboarding: Pick<Onboarding, 'status' | 'informationRequests'>,
  representatives: readonly Identity[],
): string[] {
  if (!isOnboardingOpen(onboarding)) return []
  const questions = openInformationRequest(onboarding)?.questions ?? []
  return [
    ...questions.map(question => `an answer to: ${question}`),
    ...missingIdentityMessages(representatives),
  ]
}

/** A review can begin once each representative has submitted documents. */
export const areIdentitiesSubmitted = (representatives: readonly Identity[]): boolean =>
  representatives.every(({ status }) => status !== 'none' && status !== 'rejected')

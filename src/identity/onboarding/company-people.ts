import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

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

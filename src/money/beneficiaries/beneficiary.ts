import { defineEntity, p } from '@mikro-orm/core'
import { MAX_SEPA_NAME_LENGTH, toSepaText } from '../../iso20022/sepa-charset.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import type { PayeeCheck } from '../../ports/sepa-rail.ts'
import { bicMatchesIban } from '../../values/bic.ts'
import { countryOfIban } from '../../values/iban.ts'
import type { PersonalData } from '../../values/personal.ts'

interface Verification extends PayeeCheck {
  readonly at: string
}

const schema = defineEntity({
  ...tenantTable('Beneficiary', 'beneficiaries'),
  properties: {
    ...recordColumns('beneficiary'),
    name: p.text(),
    sepaName: p.text(),
    iban: p.text(),
    bic: nullable.string(),
    country: p.text(),
    email: nullable.string(),
    verification: p
      .json<Verification | null>()
      .strictNullable()
      .onCreate(() => null),
    duplicateOf: nullable.string(),
    deletedAt: nullable.instant(),
  },
})

interface Members {
  name: string
  iban: string
  bic: string | null
  country: string
  email: string | null
}

export class Beneficiary extends schema.class {
  /** A new IBAN also changes the country, if that was the old IBAN's. */
  changesTo(members: { [Name in keyof Members]?: Members[Name] | undefined }): Partial<Members> {
    const wasAtHome = this.country === countryOfIban(this.iban)
    const home = members.iban && wasAtHome ? { country: countryOfIban(members.iban) } : {}
    const entries = Object.entries({ ...home, ...members })
    return Object.fromEntries(entries.filter(([name, value]) => value !== this[name as keyof Members]))
  }

  /** A new name or IBAN clears the verification, which was for the old pair. */
  change(members: Partial<Members>): void {
    Object.assign(this, members)
    if (members.name) this.sepaName = toSepaName(members.name)
    if (members.name || members.iban) this.verification = null
  }
}
schema.setClass(Beneficiary)

export const toSepaName = (name: string): string => toSepaText(name, MAX_SEPA_NAME_LENGTH)

export function bicMismatch({ bic, iban }: Pick<Members, 'bic' | 'iban'>): string | undefined {
  if (bic === null || bicMatchesIban(bic, iban)) return undefined
  return `bic: the bank is in ${bic.slice(4, 6)}, the account in ${countryOfIban(iban)}.`
}

export const beneficiariesPersonalData = {
  beneficiaries: {
    personal: {
      name: { kind: 'name', ground: 'contract', forget: 'word' },
      sepa_name: { kind: 'name', ground: 'contract', forget: { value: 'Forgotten' } },
      verification: { kind: 'name', ground: 'contract', forget: 'null' },
      iban: { kind: 'account', ground: 'contract', forget: 'iban' },
      bic: { kind: 'account', ground: 'contract', forget: 'null' },
      country: { kind: 'address', ground: 'contract', forget: { value: 'ZZ' } },
      email: { kind: 'contact', ground: 'contract', forget: 'null' },
    },
    plain: ['duplicate_of'],
    about: { beneficiary: ['id'] },
  },
} as const satisfies PersonalData

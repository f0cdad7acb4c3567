import { defineEntity, p } from '@mikro-orm/core'
import { MAX_SEPA_NAME_LENGTH, toSepaText } from '../../iso20022/sepa-charset.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import type { PayeeCheck } from '../../ports/sepa-rail.ts'
import { bicMatchesIban } from '../../values/bic.ts'
import { countryOfIban } from '../../values/iban.ts'

interface Verification extends PayeeCheck {
  readonly at: string
}

const schema = defineEntity({
  ...tenantTable('Beneficiary', 'beneficiaries'),
  ...personalTable({ about: { beneficiary: ['id'] } }),
  properties: {
    ...recordColumns('beneficiary'),
    name: personal(p.text(), 'name', 'contract', 'word'),
    sepaName: personal(p.text(), 'name', 'contract', { value: 'Forgotten' }),
    iban: personal(p.text(), 'account', 'contract', 'iban'),
    bic: personal(nullable.string(), 'account', 'contract', 'null'),
    country: personal(p.text(), 'address', 'contract', { value: 'ZZ' }),
    email: personal(nullable.string(), 'contact', 'contract', 'null'),
    verification: personal(nullable.json<Verification>(), 'name', 'contract', 'null'),
    duplicateOf: plain(nullable.string()),
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

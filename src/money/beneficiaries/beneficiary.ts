import { defineEntity, p } from '@mikro-orm/core'
import { LONGEST_NAME, sepaText } from '../../iso20022/sepa-charset.ts'
import { maybe, record, tenantTable } from '../../kernel/database/entity.ts'
import type { PayeeCheck } from '../../ports/sepa-rail.ts'
import { bicFits } from '../../values/bic.ts'
import { countryOfIban } from '../../values/iban.ts'

/** What the payee's bank said of name and IBAN, and when. */
export interface Verification extends PayeeCheck {
  readonly at: string
}

const schema = defineEntity({
  ...tenantTable('Beneficiary', 'beneficiaries'),
  properties: {
    ...record('beneficiary'),
    name: p.text(),
    sepaName: p.text(),
    iban: p.text(),
    bic: maybe.string(),
    country: p.text(),
    email: maybe.string(),
    verification: p
      .json<Verification | null>()
      .strictNullable()
      .onCreate(() => null),
    duplicateOf: maybe.string(),
    deletedAt: maybe.instant(),
  },
})

/** What an owner says of a beneficiary. */
export interface Members {
  name: string
  iban: string
  bic: string | null
  country: string
  email: string | null
}

export class Beneficiary extends schema.class {
  /** Those of these members that have another value; with another IBAN the country goes along, if it was the old one's. */
  changesTo(members: { [Name in keyof Members]?: Members[Name] | undefined }): Partial<Members> {
    const wasAtHome = this.country === countryOfIban(this.iban)
    const home = members.iban && wasAtHome ? { country: countryOfIban(members.iban) } : {}
    const names = Object.entries({ ...home, ...members })
    return Object.fromEntries(names.filter(([name, value]) => value !== this[name as keyof Members]))
  }

  /** A bank has confirmed one name for one account: with another of either its word is worth nothing. */
  change(members: Partial<Members>): void {
    Object.assign(this, members)
    if (members.name) this.sepaName = sepaName(members.name)
    if (members.name || members.iban) this.verification = null
  }
}
schema.setClass(Beneficiary)

/** The name as SEPA messages have it. */
export const sepaName = (name: string): string => sepaText(name, LONGEST_NAME)

/** Why this bank cannot keep that account; undefined where it can, or is not named. */
export function bicMismatch({ bic, iban }: Pick<Members, 'bic' | 'iban'>): string | undefined {
  if (bic === null || bicFits(bic, iban)) return undefined
  return `bic: The bank is in ${bic.slice(4, 6)}, the account in ${countryOfIban(iban)}.`
}

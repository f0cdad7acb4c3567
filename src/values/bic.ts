import { z } from 'zod'
import { countries } from './countries.ts'
import { countryOfIban, ibanCountryAliases } from './iban.ts'

const countryOfBic = (bic: string): string => bic.slice(4, 6)

/** BICs of Kosovo use XK, which ISO 3166 does not assign. */
const isCountry = (code: string): boolean => countries.has(code) || code === 'XK'

/** ISO 9362:2014, as in `BICFIDec2014Identifier`; undefined if it is valid. */
export function bicProblem(bic: string): string | undefined {
  const [stranger] = bic.match(/[^A-Z0-9]/u) ?? []
  if (stranger) return `A BIC has only letters and digits, but this has "${stranger}".`
  if (bic.length !== 8 && bic.length !== 11)
    return `A BIC has 8 or 11 characters, but this has ${bic.length}.`
  const country = countryOfBic(bic)
  return isCountry(country)
    ? undefined
    : `The fifth and sixth characters of a BIC are a country, but "${country}" is none.`
}

/**
 * A bank keeps accounts of its own country. Two exceptions: banks of a territory name it while its accounts
 * have the IBAN of another country; French banks have branches in Monaco.
 */
export function bicMatchesIban(bic: string, iban: string): boolean {
  const [bank, account] = [countryOfBic(bic), countryOfIban(iban)]
  return bank === account || ibanCountryAliases[bank] === account || (bank === 'FR' && account === 'MC')
}

export const bicSchema = z
  .codec(z.string().max(100), z.string(), {
    decode(text, context) {
      const plain = text.trim().replace(/[a-z]/g, letter => letter.toUpperCase())
      const problem = bicProblem(plain)
      if (problem === undefined) return plain
      context.issues.push({ code: 'custom', message: problem, input: text })
      return z.NEVER
    },
    encode: plain => plain,
  })
  .meta({ description: 'BIC of the bank that keeps the account.', examples: ['COBADEFFXXX'] })

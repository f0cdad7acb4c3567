import { countrySpecs, ValidationErrorsIBAN, validateIBAN } from 'ibantools'
import { z } from 'zod'
import { countries } from './countries.ts'

/**
 * The EPC's list of SEPA scheme countries (EPC409-09 v8.0 of 24 December 2025) by the country code of an
 * IBAN: the EU, the other countries of the EEA, and those outside it.
 */
const codes =
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK ' +
  'IS LI NO ' +
  'AD AL CH GB GI MC MD ME MK RS SM VA'

export const sepaCountries: ReadonlySet<string> = new Set(codes.split(' '))

/** SEPA territories whose accounts have the IBAN of another country, though their banks' BICs name the territory. */
export const ibanCountryAliases: Readonly<Record<string, string>> = {
  AX: 'FI',
  BL: 'FR',
  GF: 'FR',
  GP: 'FR',
  MF: 'FR',
  MQ: 'FR',
  PM: 'FR',
  RE: 'FR',
  YT: 'FR',
  GG: 'GB',
  IM: 'GB',
  JE: 'GB',
}

/** The form that is stored and sent: no spaces, capital letters. */
export const normalizeIban = (text: string): string =>
  text.replace(/\s/g, '').replace(/[a-z]/g, letter => letter.toUpperCase())

export const countryOfIban = (iban: string): string => iban.slice(0, 2)

/** 0 for countries without IBANs. */
export const ibanLength = (iban: string): number => countrySpecs[countryOfIban(iban)]?.chars ?? 0

export function ibanProblem(iban: string): string | undefined {
  const [stranger] = iban.match(/[^A-Z0-9]/u) ?? []
  if (stranger) return `An IBAN has only letters and digits, but this has "${stranger}".`
  const country = countryOfIban(iban)
  if (!/^[A-Z]{2}$/.test(country)) return 'An IBAN begins with the two letters of a country.'
  return countryProblem(country) ?? structureProblem(iban, country)
}

function countryProblem(country: string): string | undefined {
  if (sepaCountries.has(country)) return undefined
  const home = ibanCountryAliases[country]
  if (home) return `Accounts in ${country} have an IBAN that begins with ${home}.`
  if (countrySpecs[country]?.chars) return `${country} lies outside the SEPA area.`
  return countries.has(country) ? `${country} has no IBANs.` : `There is no country ${country}.`
}

/**
 * Checks length, structure and check digits. National check digits inside the account number are not checked:
 * banks issue numbers that break them, and payments to those arrive.
 */
function structureProblem(iban: string, country: string): string | undefined {
  const { chars, bban_regexp } = countrySpecs[country] ?? {}
  const wrong = new Set(validateIBAN(iban).errorCodes)
  if (wrong.has(ValidationErrorsIBAN.WrongBBANLength))
    return `An IBAN of ${country} has ${chars} characters, but this has ${iban.length}.`
  if (wrong.has(ValidationErrorsIBAN.ChecksumNotNumber))
    return `The third and fourth characters of an IBAN are digits, but here they are "${iban.slice(2, 4)}".`
  if (wrong.has(ValidationErrorsIBAN.WrongBBANFormat))
    return `An IBAN of ${country} has, after its first four characters, ${describeStructure(bban_regexp ?? '')}.`
  if (wrong.has(ValidationErrorsIBAN.WrongIBANChecksum))
    return 'The check digits do not match: a character is wrong, or two are swapped.'
  return undefined
}

const KINDS: Readonly<Record<string, string>> = {
  'A-Z': 'letters',
  '0-9': 'digits',
  'A-Z0-9': 'letters or digits',
}

function describeStructure(pattern: string): string {
  const parts = [...pattern.matchAll(/\[([^\]]+)\]\{(\d+)\}/g)]
  return parts
    .map(([, kind = '', count]) => `${count} ${count === '1' ? KINDS[kind]?.slice(0, -1) : KINDS[kind]}`)
    .join(', ')
}

/** Spaces are removed and letters turned into capitals, then it is checked. */
export const ibanSchema = z
  .codec(z.string().max(100), z.string(), {
    decode(text, context) {
      const plain = normalizeIban(text)
      const problem = ibanProblem(plain)
      if (problem === undefined) return plain
      context.issues.push({ code: 'custom', message: problem, input: text })
      return z.NEVER
    },
    encode: plain => plain,
  })
  .meta({
    description: 'IBAN of an account in the SEPA area. Spaces and lowercase letters are allowed.',
    examples: ['DE89 3704 0044 0532 0130 00'],
  })

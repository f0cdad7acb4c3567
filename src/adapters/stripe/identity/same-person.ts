import { z } from 'zod'
import type { CheckedPerson } from '../../../ports/identity-verification.ts'

export const VerifiedOutputs = z.object({
  first_name: z.string(),
  last_name: z.string(),
  dob: z.object({ day: z.int(), month: z.int(), year: z.int() }),
})

/**
 * Documents spell Müller as MUELLER, and name all first names: each word of the submission must be there, and
 * both a first name and the surname among them.
 */
export function isSamePerson(
  { name, dateOfBirth }: Pick<CheckedPerson, 'name' | 'dateOfBirth'>,
  { first_name, last_name, dob }: z.output<typeof VerifiedOutputs>,
): boolean {
  const { day, month, year } = dob
  const born = [year, month, day].map(part => String(part).padStart(2, '0')).join('-')
  const [given, first, family] = [wordsOf(name), wordsOf(first_name), wordsOf(last_name)]
  const shown = [...first, ...family]
  const names = (words: readonly string[]): boolean => words.some(word => given.includes(word))
  const isNamed =
    given.every(word => shown.includes(word)) && names(family) && (first.length === 0 || names(first))
  return born === dateOfBirth && isNamed
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/([aou])e/g, '$1')
    .split(/[^\p{L}]+/u)
    .filter(word => word !== '')

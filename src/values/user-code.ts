import { randomInt } from 'node:crypto'

/** No vowels, so that no code is a word, and no letter that is read as a digit. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const LENGTH = 8

export function newUserCode(): string {
  const letters = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`
}

/** A typed code in the form of `newLetterCode`; undefined if it cannot be one. */
export function parseUserCode(typed: string): string | undefined {
  const letters = typed.toUpperCase().replace(/[\s-]/g, '')
  const isCode = letters.length === LENGTH && [...letters].every(letter => LETTERS.includes(letter))
  return isCode ? `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}` : undefined
}

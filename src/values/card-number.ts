import { z } from 'zod'

/** Twelve to nineteen digits, together or in groups. */
const DIGITS = /(?<!\d)\d(?:[ -]?\d){11,18}(?!\d)/g

/** The check digit of ISO/IEC 7812: every second digit from the right counts twice. */
export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let place = 1; place <= digits.length; place++) {
    const value = Number(digits[digits.length - place]) * (place % 2 === 0 ? 2 : 1)
    sum += value > 9 ? value - 9 : value
  }
  return sum % 10 === 0
}

/** The form of RFC 9562. Every three-hundredth random UUID would look like a card number in groups. */
const UUID = /(?<![\da-z])[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}(?![\da-z])/

const EVERY_UUID = new RegExp(UUID, 'gi')
const withoutUuids = (text: string): string => text.replace(EVERY_UUID, 'uuid')

const UUID_HERE = new RegExp(UUID, 'iy')
/** The groups of a UUID from which on 14 digits have room. */
const GROUPS_OF_UUID = [0, 9, 14, 19]

export const isWithinUuid = (text: string, at: number): boolean =>
  GROUPS_OF_UUID.some(group => {
    UUID_HERE.lastIndex = at - group
    return at >= group && UUID_HERE.test(text)
  })

const isCardNumber = (text: string): boolean =>
  [...withoutUuids(text).matchAll(DIGITS)].some(([digits]) => passesLuhn(digits.replace(/[ -]/g, '')))

/**
 * A separate number of 14 digits or more that begins like a card number. Ids from random bits or the time
 * hardly ever contain one.
 */
const ALONE = /(?<![\da-z])[2-69](?:[ -]?\d){13,18}(?![\da-z])/gi

export const isCardNumberInId = (id: string): boolean =>
  [...withoutUuids(id).matchAll(ALONE)].some(([digits]) => passesLuhn(digits.replace(/[ -]/g, '')))

export function hasCardNumber(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'number') return isCardNumber(String(value))
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(value).some(([name, member]) => isCardNumber(name) || hasCardNumber(member))
}

/** Some members are random, as ids are: in them only a separate number counts. */
function hasCardNumberBeside(value: unknown, random: readonly string[]): boolean {
  if (typeof value !== 'object' || value === null || random.length === 0) return hasCardNumber(value)
  return Object.entries(value).some(([name, member]) =>
    random.includes(name) && typeof member === 'string'
      ? isCardNumberInId(member)
      : hasCardNumber({ [name]: member }),
  )
}

/**
 * Refuses a body with a card number in any member: this service must never receive one. In random members
 * every tenth long run of digits would look like one.
 */
export const refuseCardNumbers = <T extends z.ZodObject>(
  body: T,
  instead = 'send the token that the processor gave you.',
  { random = [] }: { readonly random?: readonly string[] } = {},
) =>
  z.preprocess<unknown, T, z.input<T>>((input, context) => {
    if (!hasCardNumberBeside(input, random)) return input
    context.issues.push({
      code: 'custom',
      message: `This looks like the number of a card. Never send one: ${instead}`,
      input: undefined,
    })
    return z.NEVER
  }, body)

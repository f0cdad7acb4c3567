import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { refuseCardNumbers } from '../../src/values/card-number.ts'

const NUMBER = '4242424242424242'
/** Its first three groups are 16 digits with the check digit of a card. */
const UUID = '42424242-4242-4242-8abc-abcdefabcdef'
const body = refuseCardNumbers(
  z.object({ challenge: z.unknown(), note: z.string().optional() }),
  'send it to nobody.',
  { random: ['challenge'] },
)

describe('a member that is random', () => {
  test.each([
    ['within letters', `Payment id="x${NUMBER}y"`],
    ['of too few digits', 'Payment id="7992739871300"'],
    ['that begins as no card does', 'Payment id="7992739871300008"'],
  ])('may contain digits that pass as a card number: %s', (_, challenge) => {
    expect(body.safeParse({ challenge }).success).toBe(true)
  })

  test('may be a UUID whose groups pass as a card number', () => {
    expect(body.safeParse({ challenge: `id="${UUID}"`, note: `https://shop.example/${UUID}` }).success).toBe(
      true,
    )
  })

  test('is no UUID where it only looks like the beginning of one', () => {
    expect(body.safeParse({ challenge: 'a', note: UUID.slice(0, 19) }).success).toBe(false)
  })

  test.each([
    ['alone', NUMBER],
    ['in groups', 'Payment id="4242 4242 4242 4242"'],
  ])('contains no number of a card that stands by itself: %s', (_, challenge) => {
    expect(body.safeParse({ challenge }).error?.issues[0]?.message).toMatch('looks like the number of a card')
  })

  test.each([
    ['another member', { challenge: 'a', note: `x${NUMBER}y` }],
    ['a member within it', { challenge: { id: `x${NUMBER}y` } }],
    ['a name', { challenge: 'a', [NUMBER]: 1 }],
  ])('does not excuse %s', (_, input) => {
    expect(body.safeParse(input).success).toBe(false)
  })
})

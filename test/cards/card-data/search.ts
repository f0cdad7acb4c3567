import { describe, expect, test } from '@jest/globals'
import { searchFor } from '../../support/cards/card-data-search.ts'

const card = { number: '9999012345678907', expMonth: 11, expYear: 2030, cvc: '742' }
const token = {
  number: '9998765432109876',
  expMonth: 11,
  expYear: 2030,
  cryptogram: Buffer.from('twenty bytes, secret').toString('base64'),
}
const credential = { about: 'a credential', text: `eyJjaGFsbGVuZ2Ui${'Abc9_'.repeat(60)}` }
const search = searchFor([card], [token], [credential])

const writings: Record<string, (text: string) => string | Buffer> = {
  'as it is': text => text,
  'within other text': text => `{"note":"it is ${text}, truly"}`,
  'as bytes among others': text => Buffer.concat([Buffer.from([0, 255, 128]), Buffer.from(text)]),
  'in hex': text => `\\x${Buffer.from(`a${text}b`).toString('hex')}`,
  'in capital hex': text => Buffer.from(`a${text}b`).toString('hex').toUpperCase(),
  ...Object.fromEntries(
    ['', 'x', 'xy', 'xyz'].flatMap(before =>
      (['base64', 'base64url'] as const).map(form => [
        `in ${form}, with ${before.length} bytes before it`,
        (text: string) => Buffer.from(`${before}${text}"}`).toString(form),
      ]),
    ),
  ),
}

const secrets: Record<string, string> = {
  number: card.number,
  'number in groups': '9999 0123 4567 8907',
  'number with dashes': '9999-0123-4567-8907',
  CVC: '"cvc":"742"',
  'number of a token': token.number,
  cryptogram: token.cryptogram,
  credential: credential.text,
  'half of a credential': credential.text.slice(credential.text.length / 4, -credential.text.length / 4),
}

const cases = Object.entries(secrets).flatMap(([secret, text]) =>
  Object.entries(writings).map(([writing, write]) => ({ secret, writing, place: write(text) })),
)

describe('the search for card data', () => {
  test.each(cases)('finds a $secret $writing', ({ place }) => {
    expect(search.in(place)).not.toEqual([])
  })

  test('finds the bytes of a cryptogram', () => {
    expect(search.in(Buffer.from(token.cryptogram, 'base64'))).not.toEqual([])
  })

  test('finds a CVC that is a value of its own, at any depth', () => {
    for (const value of ['742', { a: [{ b: '742' }] }, '{"a":["742"]}'])
      expect(search.inValues([value])).toEqual(['a CVC alone'])
  })

  test('does not take a three-digit amount for a CVC, even if a card has the same one', () => {
    expect(searchFor([{ ...card, cvc: '300' }], []).inValues([{ amount: '300' }])).toEqual([])
  })

  test('finds nothing in what is no card data', () => {
    const harmless = { id: 'card_742', last4: '8907', count: 742, amount: 7.42, other: '9999012345678908' }
    expect(search.in(JSON.stringify(harmless))).toEqual([])
    expect(search.inValues([harmless])).toEqual([])
  })

  test('reports the kind of a hit without repeating it', () => {
    for (const { place } of cases) expect(search.in(place).join()).not.toMatch(/742|9999|9998/)
  })
})

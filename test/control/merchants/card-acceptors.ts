import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { acceptorNames, type CardAcceptor } from '../../../src/control/merchants/card-acceptor.ts'
import {
  intentMerchantKey,
  normalizeMerchant,
  payableBy,
  payeeMatcher,
} from '../../../src/control/merchants/matcher.ts'
import { possibleMerchantNames } from '../../../src/control/merchants/names.ts'
import { cardAcceptorForms } from '../../support/control/card-acceptors.ts'

const isCovered = (intended: string, acceptor: CardAcceptor): boolean => {
  const { merchantKeys, truncatedName } = payableBy({ ...acceptor, url: null })
  const isBeginning = truncatedName !== null && intended.toLowerCase().startsWith(truncatedName)
  return (
    merchantKeys.includes(intentMerchantKey(intended)) ||
    (isBeginning && intended.length > truncatedName.length)
  )
}

test('the table of forms has at least two hundred', () => {
  expect(cardAcceptorForms.flatMap(({ forms }) => forms).length).toBeGreaterThanOrEqual(200)
})

describe.each(cardAcceptorForms)('a card acceptor: $rule', ({ forms }) => {
  test.each(forms)(
    '$descriptor ($city, $country) for $intended: $matches',
    ({ intended, matches, ...acceptor }) => {
      expect(isCovered(intended, acceptor)).toBe(matches)
    },
  )
})

type Form = (typeof cardAcceptorForms)[number]['forms'][number]

/** A pattern that is a host matches only that host, and one that is a name no beginning of it. */
const isNameInFull = ({ intended, ...acceptor }: Form): boolean =>
  !/^www\./i.test(acceptor.descriptor) &&
  !intended.toLowerCase().startsWith(acceptorNames(acceptor).truncated ?? ' ')

test.each(cardAcceptorForms.flatMap(({ forms }) => forms).filter(form => form.matches && isNameInFull(form)))(
  'a blocklist with $intended stops $descriptor ($city, $country)',
  ({ intended, ...acceptor }) => {
    const findBlocked = payeeMatcher([intended], { lookalikes: true })
    expect(acceptorNames(acceptor).names.map(name => findBlocked(name))).toContain(intended)
  },
)

const word = fc.stringMatching(/^[bdfgkptvz]{2}[aeiou][bdfgkptvz]{3,6}[aeiou]$/)
const name = fc.array(word, { minLength: 1, maxLength: 2 }).map(words => words.join(' '))
const prefix = fc.constantFrom('', 'SQ *', 'PAYPAL *', 'SUMUP *', 'TST* ', 'PP*')
const details = fc.constantFrom(
  '',
  ' 1234',
  ' #17',
  ' +49 30 1234567',
  ' GMBH',
  ' BERLIN',
  ' 10115 BERLIN DE',
  '*4711',
)
const country = fc.constantFrom(null, 'DE')
const built = fc.record({ prefix, name, details, country })
type Built = { prefix: string; name: string; details: string; country: string | null }
const acceptorOf = ({ prefix, name, details, country }: Built): CardAcceptor => ({
  descriptor: `${prefix}${name}${details}`,
  city: null,
  country,
})
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc
    .array(fc.constantFrom('A', 'BERLIN', 'SQ *', '*', ' ', '  ', '.', '12', 'GMBH', 'DE', 'A.CO', '#'), {
      maxLength: 60,
    })
    .map(parts => parts.join('')),
)
const foldedNames = (acceptor: CardAcceptor): Set<string> =>
  new Set(acceptorNames(acceptor).names.map(normalizeMerchant))

describe('the names of a card acceptor', () => {
  test('contain the name without its details, and a name read again has no other one', () => {
    fc.assert(
      fc.property(built, form => {
        const acceptor = acceptorOf(form)
        const names = foldedNames(acceptor)
        expect(names).toContain(form.name)
        for (const one of names)
          for (const again of foldedNames({ ...acceptor, descriptor: one })) expect(names).toContain(again)
        expect([...foldedNames({ ...acceptor, descriptor: form.name })]).toEqual([form.name])
      }),
    )
  })

  test('never contain a part of a word, or one of two words', () => {
    fc.assert(
      fc.property(built, word, (form, other) => {
        const longer = acceptorOf({ ...form, name: `${form.name}${other}` })
        expect(foldedNames(longer)).not.toContain(form.name)
        const followed = acceptorOf({ ...form, name: `${form.name} ${other}` })
        expect(foldedNames(followed)).not.toContain(form.name)
        const preceded = acceptorOf({ ...form, name: `${other} ${form.name}` })
        expect(foldedNames(preceded)).not.toContain(form.name)
        const product = acceptorOf({ ...form, name: `${form.name}*${other}` })
        expect(foldedNames(product)).not.toContain(form.name)
      }),
    )
  })

  test('do not depend on the case', () => {
    fc.assert(
      fc.property(built, form => {
        const acceptor = acceptorOf(form)
        const names = foldedNames(acceptor)
        for (const descriptor of [acceptor.descriptor.toUpperCase(), acceptor.descriptor.toLowerCase()])
          expect(foldedNames({ ...acceptor, descriptor })).toEqual(names)
      }),
    )
  })

  test('are few for any text', () => {
    fc.assert(
      fc.property(anyText, fc.option(anyText), country, (descriptor, city, country) => {
        expect(acceptorNames({ descriptor, city, country }).names.length).toBeLessThan(40)
      }),
    )
    const descriptor = 'BERLIN '.repeat(1_000)
    expect(acceptorNames({ descriptor, city: null, country: null }).names).toEqual([descriptor])
  })

  test('are all stopped by a blocklist, as is every name that a text can mean', () => {
    fc.assert(
      fc.property(built, form => {
        const acceptor = acceptorOf(form)
        const { descriptor } = acceptor
        for (const blocked of [...acceptorNames(acceptor).names, ...possibleMerchantNames(descriptor)])
          expect(payeeMatcher([blocked], { lookalikes: true })(descriptor)).toBe(blocked)
      }),
    )
  })
})

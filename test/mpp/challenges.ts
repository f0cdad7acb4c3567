import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  credentialHeaderOf,
  type PaymentChallenge,
  parseChallenges,
  serializeChallenge,
} from '../../src/mpp/index.ts'
import { header, minimal, sample } from './samples.ts'

const ids = (...headers: string[]) => parseChallenges(headers).challenges.map(({ id }) => id)
const problems = (...headers: string[]) => parseChallenges(headers).problems
const named = (id: string) => minimal.replace('"a"', `"${id}"`)

/** Anything except control characters, which headers cannot contain. */
const value = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('"', '\\', ',', '=', ' ', 'u', '0', 'é', '€'),
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
    ),
    minLength: 1,
    maxLength: 30,
  })
  .filter(text => !/\p{Cc}/u.test(text))
const token = fc.stringMatching(/^X-[A-Za-z0-9-]{1,20}$/)
const maybe = (arbitrary: fc.Arbitrary<string>) => fc.option(arbitrary, { nil: undefined })

const challenge = fc
  .record({
    id: value,
    realm: value,
    method: value,
    intent: value,
    request: value,
    description: maybe(value),
    digest: maybe(value),
    expires: maybe(value),
    header: maybe(token),
    opaque: maybe(value),
  })
  .map(
    all =>
      Object.fromEntries(
        Object.entries(all).filter(([, text]) => text !== undefined),
      ) as unknown as PaymentChallenge,
  )

describe('challenges in WWW-Authenticate', () => {
  test('are what was written, whatever the parameters hold', () => {
    fc.assert(
      fc.property(challenge, written => {
        expect(parseChallenges([serializeChallenge(written)])).toEqual({
          challenges: [written],
          otherSchemes: [],
          problems: [],
        })
      }),
    )
  })

  test('are all found, in one header and in several', () => {
    fc.assert(
      fc.property(fc.array(challenge, { maxLength: 6 }), fc.boolean(), (written, areJoined) => {
        const values = written.map(serializeChallenge)
        const headers = areJoined ? [values.join(', ')] : values
        expect(parseChallenges(headers).challenges).toEqual(written)
      }),
    )
  })

  test('stand beside other schemes, which are named once each', () => {
    const read = parseChallenges([
      `Bearer realm="x, Payment id=no", Payment ${minimal}, Negotiate YIIabc==, Basic`,
      `Digest nonce="a\\"b", qop=auth ,${header(named('b'))}, NTLM , basic realm=z`,
    ])
    expect(read.challenges.map(({ id }) => id)).toEqual(['a', 'b'])
    expect(read.otherSchemes).toEqual(['bearer', 'negotiate', 'basic', 'digest', 'ntlm'])
    expect(read.problems).toEqual([])
  })

  test.each([
    ['tokens', 'Payment id=a,realm=r,method=card,intent=charge,request=e30'],
    ['any letter case', `pAYMENT ID="a", REALM="r", Method="card", inTent="charge", REQUEST="e30"`],
    [
      'spaces around the equals sign',
      'Payment id = "a" , realm= r, method ="card",intent=charge, request=e30',
    ],
    [
      'empty list elements',
      ` ,, Payment  id="a",, realm="r",\tmethod="card", intent="charge", request="e30" , `,
    ],
    ['escapes', String.raw`Payment id="\a", realm="\r", method="\card", intent="charge", request="e30"`],
    ['unknown parameters', `Payment foo=bar, ${minimal}, id2="x", _=1`],
  ])('are read with %s', (_, text) => {
    expect(parseChallenges([text])).toEqual({
      challenges: [{ id: 'a', realm: 'r', method: 'card', intent: 'charge', request: 'e30' }],
      otherSchemes: [],
      problems: [],
    })
  })

  test('give a time and a digest without quotes, too', () => {
    const [read] = parseChallenges([
      `Payment ${minimal}, expires=2026-11-21T12:00:00Z, digest=sha-256=abc=`,
    ]).challenges
    expect(read).toMatchObject({ expires: '2026-11-21T12:00:00Z', digest: 'sha-256=abc=' })
  })

  test.each([
    ['words', '"hi" to her"'],
    ['what looks like a parameter', '"hi" header="X-Pay""'],
    ['what looks like more parameters', '"hi", header="X-Pay", expires="2026-11-21T12:00:00Z"'],
    ['what looks like a challenge', `"hi"", Payment ${named('other')}`],
  ])('are read up to a quote in the description that is not escaped, and nothing of %s', (_, rest) => {
    expect(parseChallenges([`Payment ${minimal}, description="Say ${rest}`])).toEqual({
      challenges: [
        { id: 'a', realm: 'r', method: 'card', intent: 'charge', request: 'e30', description: 'Say ' },
      ],
      otherSchemes: [],
      problems: [],
    })
  })

  test.each([
    ['a parameter given twice', header(`${minimal}, realm="other"`), /has its parameter realm twice/],
    ['one given twice in another case', header(`${minimal}, ID="b"`), /has its parameter id twice/],
    ['an empty id', header(named('')), /has no id/],
    ['an id that is too long', header(named('x'.repeat(1_001))), /more than 1000 characters/],
    ['no request', header('id="a", realm="r", method="card", intent="charge"'), /has no request/],
    ['no parameters', 'Payment', /has no id/],
    ['a token in their place', 'Payment abc=', /has no id/],
    [
      'a header that steers the request',
      header(`${minimal}, header="Transfer-Encoding"`),
      /cannot carry the credential/,
    ],
    ['a header that is no name', header(`${minimal}, header="a b"`), /cannot carry the credential/],
  ])('are refused with %s, and the others stay', (_, text, why) => {
    const read = parseChallenges([`${text}, Payment ${named('good')}`, header(named('too'))])
    expect(read.challenges.map(({ id }) => id)).toEqual(['good', 'too'])
    expect(read.problems).toEqual([expect.stringMatching(why)])
  })

  test.each([
    ['a quote that does not end', header('id="a'), /a quote that ends the text is expected at character 12/],
    ['a backslash at the end', header('id="a\\'), /a quote that ends the text/],
    ['a parameter before any scheme', 'id="a"', /a scheme before the first parameter/],
    ['no comma between parameters', header('id="a" realm="b"'), /a comma is expected/],
    ['no value', header('realm="b", id='), /a value is expected/],
    ['characters of no name', 'Payment {', /a name is expected/],
    ['parameters without end', header('a=b,'.repeat(200)), /no more than 100 parameters/],
    ['a scheme that runs into something else', 'Payment"a"', /a space or a comma is expected/],
  ])('end where the text has %s, and other headers are read', (_, text, why) => {
    expect(
      ids(header(named('before')), `${header(named('first'))}, ${text}`, header(named('after'))),
    ).toEqual(
      text.startsWith('Payment') ? ['before', 'first', 'after'] : expect.arrayContaining(['before', 'after']),
    )
    expect(problems(text)).toEqual([expect.stringMatching(why)])
  })

  test('are carried by Authorization unless they name another header', () => {
    expect(credentialHeaderOf(sample)).toBe('Authorization')
    expect(credentialHeaderOf({ ...sample, header: 'Payment-Authorization' })).toBe('Payment-Authorization')
  })

  test('with a line break are not written', () => {
    expect(() => serializeChallenge({ ...sample, realm: 'a\r\nSet-Cookie: b' })).toThrow(RangeError)
  })
})

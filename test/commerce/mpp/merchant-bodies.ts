import { describe, expect, test } from '@jest/globals'
import { encodeMerchantBody } from '../../../src/commerce/mpp/merchant-body.ts'

const given = (body: string | Uint8Array, contentType?: string, cut = false) =>
  encodeMerchantBody({
    body: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    contentType,
    cut,
  })

describe('the body of a merchant', () => {
  test.each([
    ['{"a":{"b":[1]}}', 'application/json', { a: { b: [1] } }],
    ['{"title":"x"}', 'application/problem+json; charset=utf-8', { title: 'x' }],
    ['{"a":1}', undefined, { a: 1 }],
    ['[1,2]', 'application/json', { value: [1, 2] }],
    ['null', 'application/json', { value: null }],
    ['"text"', 'application/json', { value: 'text' }],
    ['{"a":1}', 'text/plain', { text: '{"a":1}' }],
    ['{"a":', 'application/json', { text: '{"a":' }],
    ['Grüße', 'text/html', { text: 'Grüße' }],
    ['', undefined, { text: '' }],
  ])('%s of type %s is given as %j', (body, type, expected) => {
    expect(given(body, type)).toEqual(expected)
  })

  test.each([
    ['{"order":12345678901234567890,"n":1}', { order: '12345678901234567890', n: 1 }],
    ['[-9007199254740993,{"far":1e400}]', { value: ['-9007199254740993', { far: '1e400' }] }],
    [
      '{"a":9007199254740991,"b":100000000000000000000,"c":6.02e23,"d":3.3333333333333333,"e":"12345678901234567890"}',
      {
        a: 9007199254740991,
        b: 100000000000000000000,
        c: 6.02e23,
        d: 3.3333333333333335,
        e: '12345678901234567890',
      },
    ],
  ])('%s keeps each digit of its whole numbers', (body, expected) => {
    expect(given(body, 'application/json')).toEqual(expected)
  })

  test('is given as base64 where it is no text', () => {
    expect(given(Uint8Array.of(0xff, 0xd8, 0xff), 'image/jpeg')).toEqual({
      base64: '/9j/',
      contentType: 'image/jpeg',
    })
  })

  test('that was cut is marked, also inside of a character', () => {
    const euro = new TextEncoder().encode('1 €')
    expect(given(euro.subarray(0, 4), 'text/plain', true)).toEqual({ text: '1 ', truncated: true })
    expect(given('{"a":', 'application/json', true)).toEqual({ text: '{"a":', truncated: true })
  })

  test('of more values than can be given on at once stays text', () => {
    const members = (count: number) =>
      `{${Array.from({ length: count }, (_, n) => `"k${n}":"a,b"`).join(',')}}`
    expect(Object.keys(given(members(19_000), 'application/json'))).toHaveLength(19_000)
    const many = members(20_001)
    expect(given(many, 'application/json')).toEqual({ text: many })
    const empty = `[${'[],'.repeat(20_000)}1]`
    expect(given(empty, 'application/json')).toEqual({ text: empty })
  })

  test('that is nested without end stays text, in linear time', () => {
    const deep = '['.repeat(500_000)
    expect(given(deep, 'application/json')).toEqual({ text: deep })
    const quotes = `{"a":"${'\\"['.repeat(200_000)}"}`
    expect(given(quotes, 'application/json')).toEqual(JSON.parse(quotes))
    const open = `"${'\\"'.repeat(500_000)}`
    expect(given(open, 'application/json')).toEqual({ text: open })
  })

  const MASKED = '************4242'

  test.each([
    ['{"card":"4242424242424242","n":1}', 'application/json', { card: MASKED, n: 1, masked: true }],
    ['{"card":4242424242424242}', undefined, { card: MASKED, masked: true }],
    ['{"card":"\\u0034242424242424242"}', 'application/json', { card: MASKED, masked: true }],
    ['{"card":4.242424242424242e15}', 'application/json', { card: MASKED, masked: true }],
    ['["4242424242424242"]', 'application/json', { value: [MASKED], masked: true }],
    ['paid by 4242 4242 4242 4242', 'text/plain', { text: 'paid by **** **** **** 4242', masked: true }],
    ['{"card":"4242424242424242"', 'application/json', { text: `{"card":"${MASKED}"`, masked: true }],
    ['{"hash":"1e5","at":1763750000000}', 'application/json', { hash: '1e5', at: 1763750000000 }],
  ])('%s of type %s is given without the card number', (body, type, expected) => {
    expect(given(body, type)).toEqual(expected)
  })

  test('of bytes is given without the card number, and with as many bytes', () => {
    const bytes = (number: string) => Buffer.concat([Buffer.of(0xff, 0xd8, 10), Buffer.from(`${number}/`)])
    expect(given(bytes('4242424242424242'), 'image/jpeg; name=4242424242424242')).toEqual({
      base64: bytes(MASKED).toString('base64'),
      contentType: `image/jpeg; name=${MASKED}`,
      masked: true,
    })
  })

  test('a body truncated inside a card number shows no part of the number', () => {
    expect(given('paid by 4242 4242 4242 42', 'text/plain', true)).toEqual({
      text: 'paid by **** **** **** **',
      truncated: true,
      masked: true,
    })
  })
})

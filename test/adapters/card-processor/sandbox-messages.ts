import { createHmac } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { CardMessage, CardReply } from '../../../src/ports/card-processor.ts'
import { clock, minutes } from '../../../src/values/clock.ts'
import { cents, NO_CENTS } from '../../../src/values/money.ts'
import { anyMessage } from '../../support/cards/messages.ts'
import { KEY, sandboxWith, secretsOf } from '../../support/cards/sandbox.ts'

const processor = sandboxWith()
const secret = secretsOf(KEY).messages[0] as Buffer

const closed: CardMessage = {
  id: 'message_1',
  processorCardId: 'sandboxcard_1',
  sentAt: new Date('2026-11-20T09:30:00.000Z'),
  content: { kind: 'number_closed', reason: 'lost' },
}

function sent(message: CardMessage, sandbox = processor) {
  const signed = sandbox.sign?.(message)
  if (!signed) throw new Error('the sandbox signs')
  return { headers: signed.headers, body: Buffer.from(signed.body) }
}

const read = (
  { headers, body }: { headers: Readonly<Record<string, string>>; body: Uint8Array },
  now = clock.real(),
) => processor.read(body, headers, now)

function signedBytes(body: Uint8Array, at = clock.milliseconds()) {
  const seconds = Math.floor(at / 1_000)
  const signature = createHmac('sha256', secret).update(`${seconds}.`).update(body).digest('hex')
  return { headers: { 'card-processor-signature': `t=${seconds},v1=${signature}` }, body }
}

const json = (value: unknown) => signedBytes(Buffer.from(JSON.stringify(value)))

const wire = (content: object, more: object = {}) => ({
  ...closed,
  content,
  ...more,
})

const merchant = { descriptor: 'BOOKS', mcc: '5942', country: 'DE', url: null, networkTokenId: null }
const authorization = {
  kind: 'authorization',
  authorizationId: 'auth_1',
  ask: 0,
  amountCents: '1250',
  partialAllowed: false,
  merchant,
}

describe('a message of the sandbox', () => {
  test('of every kind is read as it was signed', () => {
    fc.assert(
      fc.property(anyMessage, message => {
        expect(read(sent(message))).toEqual({ kind: 'message', message })
      }),
    )
  })

  test('is recognized by its header, which proves nothing', () => {
    expect(processor.recognizes(sent(closed).headers)).toBe(true)
    expect(processor.recognizes({ 'card-processor-signature': 'no' })).toBe(true)
    expect(processor.recognizes({ 'stripe-signature': 't=1,v1=a' })).toBe(false)
  })

  test('is unsigned if one byte of it is another', () => {
    const { headers, body } = sent(closed)
    for (const index of [0, 1, body.length - 1]) {
      const tampered = Buffer.from(body)
      tampered[index] = (tampered[index] ?? 0) ^ 1
      expect(read({ headers, body: tampered })).toMatchObject({ kind: 'unsigned' })
    }
    expect(read({ headers, body: Buffer.concat([body, Buffer.from(' ')]) })).toMatchObject({
      kind: 'unsigned',
    })
  })

  test.each([
    ['missing', {}],
    ['empty', { 'card-processor-signature': '' }],
    ['without a time', { 'card-processor-signature': `v1=${'a'.repeat(64)}` }],
    ['without a signature', { 'card-processor-signature': 't=1' }],
    ['too short', { 'card-processor-signature': `t=${Math.floor(Date.now() / 1_000)},v1=aa` }],
    ['of nobody', { 'card-processor-signature': `t=${Math.floor(Date.now() / 1_000)},v1=${'a'.repeat(64)}` }],
  ])('is unsigned where the signature is %s', (_, headers) => {
    expect(read({ ...sent(closed), headers: headers as Record<string, string> })).toMatchObject({
      kind: 'unsigned',
      reason: expect.stringContaining('signature'),
    })
  })

  test('is unsigned where another installation has signed it', () => {
    expect(read(sent(closed, sandboxWith('2'.repeat(64))))).toMatchObject({ kind: 'unsigned' })
  })

  test('is read where the key was rotated after it had been signed', () => {
    const { headers, body } = sent(closed)
    const rotated = sandboxWith('2'.repeat(64), [KEY])
    expect(rotated.read(body, headers, clock.real())).toMatchObject({ kind: 'message' })
  })

  test('is unsigned more than five minutes after, and before, its time', () => {
    const body = Buffer.from(sent(closed).body)
    const at = new Date('2026-11-20T09:30:00.000Z')
    const message = signedBytes(body, at.getTime())
    expect(read(message, new Date(at.getTime() + minutes(5)))).toMatchObject({ kind: 'message' })
    expect(read(message, new Date(at.getTime() + minutes(5) + 1))).toMatchObject({ kind: 'unsigned' })
    expect(read(message, new Date(at.getTime() - minutes(5) - 1))).toMatchObject({ kind: 'unsigned' })
  })

  test.each([
    ['body', 'a text', 'text'],
    ['body', 'null', null],
    ['body', 'a list', []],
    ['id', 'no id', { ...closed, id: undefined }],
    ['id', 'an id of nothing', { ...closed, id: '' }],
    ['id', 'half of a character', { ...closed, id: '\ud800' }],
    ['content.reason', 'a text that ends early', wire({ kind: 'number_closed', reason: 'lost\0' })],
    ['id', 'a long id', { ...closed, id: 'a'.repeat(201) }],
    ['sentAt', 'no time', { ...closed, sentAt: 'now' }],
    ['content.kind', 'an unknown kind', wire({ kind: 'greeting' })],
    ['content.kind', 'a kind of every object', wire({ kind: '__proto__' })],
    ['content.amountCents', 'half a cent', wire({ ...authorization, amountCents: '12.5' })],
    ['content.amountCents', 'less than nothing', wire({ ...authorization, amountCents: '-1' })],
    ['content.amountCents', 'a number', wire({ ...authorization, amountCents: 1250 })],
    ['content.amountCents', 'too much', wire({ ...authorization, amountCents: '1'.repeat(14) })],
    ['content.ask', 'too many asks', wire({ ...authorization, ask: 101 })],
    [
      'content.merchant.country',
      'no country',
      wire({ ...authorization, merchant: { ...merchant, country: 'de' } }),
    ],
    ['content.merchant.mcc', 'no category', wire({ ...authorization, merchant: { ...merchant, mcc: '42' } })],
    [
      'content.merchant.descriptor',
      'a long descriptor',
      wire({ ...authorization, merchant: { ...merchant, descriptor: 'a'.repeat(201) } }),
    ],
    ['content.asks', 'no asks', wire({ kind: 'outcome', authorizationId: 'auth_1', asks: [], merchant })],
    [
      'content.asks',
      'a thousand asks',
      wire({
        kind: 'outcome',
        authorizationId: 'auth_1',
        asks: Array.from({ length: 1_000 }, () => ({ amountCents: '1', approved: true })),
        merchant,
      }),
    ],
  ])('is unreadable, and names %s, for %s', (member, _, value) => {
    const answer = read(json(value))
    expect(answer.kind).toBe('unreadable')
    expect((answer as { reason: string }).reason).toMatch(new RegExp(`^${member}: `))
  })

  test.each([
    ['no JSON', Buffer.from('{')],
    ['nothing', Buffer.alloc(0)],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['64 KB and a byte', Buffer.alloc(65_537, 0x20)],
  ])('is unreadable where its body is %s', (_, body) => {
    expect(read(signedBytes(body))).toMatchObject({
      kind: 'unreadable',
      reason: expect.stringContaining('body'),
    })
  })

  test('is unreadable with a member that is not known, whose name is not repeated', () => {
    const answer = read(json({ ...closed, '4242424242424242': 'x' }))
    expect(answer).toEqual({ kind: 'unreadable', reason: 'body: a member that is not known' })
  })

  test('any signed bytes are handled without a defect', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json().map(text => Buffer.from(text)),
          fc.uint8Array(),
        ),
        body => {
          expect(read(signedBytes(body)).kind).toBe('unreadable')
        },
      ),
    )
  })
})

describe('the answer to a message of the sandbox', () => {
  test.each<CardReply>([
    { kind: 'approved', approvedCents: cents(1_250n), askedCents: cents(1_250n) },
    { kind: 'approved', approvedCents: NO_CENTS, askedCents: NO_CENTS },
    { kind: 'declined', reason: 'The daily limit of € 70.00 is reached.' },
    { kind: 'noted' },
  ])('is the same bytes for the same reply, and says it: $kind', reply => {
    const answer = processor.answer(closed, reply)
    expect(processor.answer(closed, reply)).toEqual(answer)
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
    expect(processor.replyIn?.(answer)).toEqual(reply)
  })
})

import { describe, expect, test } from '@jest/globals'
import { sandboxCardById, sandboxCardId } from '../../../src/adapters/card-processor/sandbox-numbers.ts'
import { Problem } from '../../../src/kernel/contract/problem.ts'
import { type IssuedCard, isProcessorFailure } from '../../../src/ports/card-processor.ts'
import { hasCardNumber } from '../../../src/values/card-number.ts'
import { addMs, days } from '../../../src/values/clock.ts'
import { callOf, newCard, requestedAt, sandboxWith, secretsOf } from '../../support/cards/sandbox.ts'
import { externalSystemsFor } from '../../support/commerce/rail.ts'

const KEY = '1'.repeat(64)
const OTHER_KEY = '2'.repeat(64)
const processor = sandboxWith(KEY)
const { numbers } = secretsOf(KEY)

async function issue(reference: string, sandbox = processor, now = requestedAt): Promise<IssuedCard> {
  const card = await sandbox.issue(newCard(), callOf(reference, now))
  if (isProcessorFailure(card)) throw new Error(card.failure)
  return card
}

describe('the sandbox’s cards', () => {
  const ids = Array.from({ length: 10_000 }, (_, n) => sandboxCardId(numbers, `card_${n}`, requestedAt))
  const cards = ids.map(id => sandboxCardById(numbers, id)?.data)

  test('have 16 digits, which begin as no real card’s do, and a check digit that is right', () => {
    const hasForm = (card: (typeof cards)[number]) =>
      /^9999\d{12}$/.test(card?.number ?? '') && /^\d{3}$/.test(card?.cvc ?? '')
    expect(cards.filter(card => !hasForm(card))).toEqual([])
    expect(cards.filter(card => !hasCardNumber(card?.number))).toEqual([])
  })

  test('have ten thousand numbers for ten thousand references', () => {
    expect(new Set(cards.map(card => card?.number)).size).toBe(10_000)
    expect(new Set(cards.map(card => card?.cvc)).size).toBe(1_000)
  })

  test('have ids that look like no card’s number', () => {
    expect(ids.filter(id => hasCardNumber(id))).toEqual([])
    expect(new Set(ids).size).toBe(10_000)
  })

  test('are issued once per reference, in every process and at any time', async () => {
    const card = await issue('card_1')
    expect(await issue('card_1')).toEqual(card)
    expect(await issue('card_1', sandboxWith(KEY), addMs(requestedAt, days(365)))).toEqual(card)
    expect(await issue('card_2')).not.toEqual(card)
  })

  test('end four years after the request, by the time of the tenant', async () => {
    expect(await issue('card_1')).toMatchObject({ brand: 'sandbox', expMonth: 11, expYear: 2030 })
    const later = newCard({ requestedAt: new Date('2061-02-28T23:59:59.000Z') })
    expect(await processor.issue(later, callOf('card_1'))).toMatchObject({ expMonth: 2, expYear: 2065 })
  })

  test('show nothing of their numbers but the last four digits', async () => {
    const card = await issue('card_1')
    expect(hasCardNumber(card)).toBe(false)
    expect(Object.keys(card).sort()).toEqual(['brand', 'expMonth', 'expYear', 'last4', 'processorCardId'])
    expect(sandboxCardById(numbers, card.processorCardId)?.data.number.slice(-4)).toBe(card.last4)
  })

  test('are others in another installation, and stay what they are when the key is rotated', async () => {
    const card = await issue('card_1')
    const elsewhere = await issue('card_1', sandboxWith(OTHER_KEY))
    expect(elsewhere.processorCardId).not.toBe(card.processorCardId)
    expect(sandboxCardById(secretsOf(OTHER_KEY).numbers, card.processorCardId)).toBeNull()
    const rotated = secretsOf(OTHER_KEY, [KEY])
    expect(sandboxCardById(rotated.numbers, card.processorCardId)).toEqual(
      sandboxCardById(numbers, card.processorCardId),
    )
    expect(await issue('card_1', sandboxWith(OTHER_KEY, [KEY]))).toEqual(elsewhere)
  })

  test('are replaced once per reference by another number', async () => {
    const { processorCardId } = await issue('card_1')
    const replace = () => processor.replace(processorCardId, newCard(), callOf('rotation_1'))
    const replacement = await replace()
    expect(replacement).toEqual(await issue('rotation_1'))
    expect(await replace()).toEqual(replacement)
    expect(replacement).not.toMatchObject({ processorCardId })
  })

  test('cards accept every state and control repeatedly', async () => {
    const { processorCardId } = await issue('card_1')
    for (const state of ['active', 'inactive', 'active', 'closed', 'closed'] as const)
      expect(await processor.setState(processorCardId, state, callOf('state'))).toEqual({ done: true })
    const { controls } = newCard()
    expect(await processor.setControls(processorCardId, controls, callOf('controls'))).toEqual({ done: true })
  })

  test.each([
    'card_1',
    '',
    'sandboxcard_',
    `sandboxcard_aaaaaa_203011_${'a'.repeat(32)}`,
    '9999000000000000',
  ])('are not found by the id “%s”', async id => {
    const refused = { failure: 'refused', code: 'unknown_card' }
    expect(await processor.setState(id, 'active', callOf('state'))).toMatchObject(refused)
    expect(await processor.setControls(id, newCard().controls, callOf('controls'))).toMatchObject(refused)
    expect(await processor.replace(id, newCard(), callOf('rotation'))).toMatchObject(refused)
  })
})

describe('the processor of a mode', () => {
  test('is the sandbox in test mode, regardless of settings', () => {
    expect(externalSystemsFor({}).cardProcessor('test').name).toBe('sandbox')
  })

  test('does not exist in live mode until CARD_PROCESSOR names one', () => {
    expect(() => externalSystemsFor({}).cardProcessor('live')).toThrow(Problem)
    expect(() => externalSystemsFor({}).cardProcessor('live')).toThrow('CARD_PROCESSOR is not set')
    expect(externalSystemsFor({ CARD_PROCESSOR: 'sandbox' }).cardProcessor('live').name).toBe('sandbox')
  })
})

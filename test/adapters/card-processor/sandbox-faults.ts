import { describe, expect, test } from '@jest/globals'
import {
  type IssuedCard,
  isProcessorFailure,
  type ProcessorFailure,
} from '../../../src/ports/card-processor.ts'
import { hasCardNumber } from '../../../src/values/card-number.ts'
import { addMs, days, minutes } from '../../../src/values/clock.ts'
import { aKeyPair } from '../../support/cards/encryption-keys.ts'
import { callOf, newCard, requestedAt, sandboxWith } from '../../support/cards/sandbox.ts'

const processor = sandboxWith()
const at = (milliseconds: number) => callOf('card_1', addMs(requestedAt, milliseconds))
const issue = (displayName: string, milliseconds = 0) =>
  processor.issue(newCard({ displayName }), at(milliseconds))

const outcome = (answer: object): string =>
  'failure' in answer ? [answer.failure, 'code' in answer ? answer.code : ''].join(' ').trim() : 'done'

async function issued(displayName: string, milliseconds = 0): Promise<IssuedCard> {
  const card = await issue(displayName, milliseconds)
  if (isProcessorFailure(card)) throw new Error(card.failure)
  return card
}

async function outcomesOf(processorCardId: string, milliseconds: number): Promise<string[]> {
  const { key } = await aKeyPair()
  const [recipient, call] = [{ key, intentId: null, merchantHost: null }, at(milliseconds)]
  const { controls } = newCard()
  const answers: (object | ProcessorFailure)[] = [
    await processor.setState(processorCardId, 'active', call),
    await processor.setControls(processorCardId, controls, call),
    await processor.replace(processorCardId, newCard(), call),
    await processor.disclose(processorCardId, recipient, call),
    (await processor.networkToken?.({ processorCardId, expiresAt: requestedAt }, recipient, call)) ?? {},
  ]
  return answers.map(outcome)
}

const every = (outcome: string) => Array.from({ length: 5 }, () => outcome)

describe('a card whose name requests a fault', () => {
  test.each([
    ['Sandbox late', 'late', minutes(1)],
    ['SANDBOX LATE books', 'late', minutes(1)],
    ['Sandbox late 5', 'late', minutes(5)],
    ['Sandbox garbled', 'unusable', minutes(1)],
    ['Sandbox away', 'late', minutes(60)],
    ['Sandbox away 1440', 'late', days(1)],
    ['Sandbox refused', 'refused not_issued', days(365 * 100)],
  ])('“%s” is answered with “%s” for %d ms from its request', async (name, failure, lastsMs) => {
    for (const milliseconds of [0, lastsMs - 1])
      expect(outcome(await issue(name, milliseconds))).toBe(failure)
    if (failure.startsWith('refused')) return
    const card = await issued(name, lastsMs)
    expect(await issue(name, lastsMs + days(400))).toEqual(card)
    expect(hasCardNumber(card.processorCardId)).toBe(false)
  })

  test('“Sandbox asks” wants a person to confirm a shared payment token, who does so in the end', async () => {
    const { processorCardId } = await issued('Sandbox asks')
    const expiresAt = addMs(requestedAt, minutes(60)).toISOString()
    const returnUrl = 'https://pay.example.com/console/machine-payments/mppcredential_1'
    const order = {
      processorCardId,
      seller: 'profile_1',
      amount: '2000',
      currency: 'eur',
      expiresAt,
      returnUrl,
    }
    const token = await processor.sharedTokens?.create(order, at(0))
    if (!token || isProcessorFailure(token)) throw new Error('no token')
    const action = { type: 'redirect', url: expect.stringMatching(/^https:\/\/processor\.example\//) }
    expect(token.state).toEqual({ status: 'requires_action', action })
    const stateAt = (milliseconds: number) => processor.sharedTokens?.stateOf(token.tokenId, at(milliseconds))
    expect(await stateAt(minutes(2) - 1)).toEqual(token.state)
    expect(await stateAt(minutes(2))).toEqual({ status: 'active' })
    expect(await processor.sharedTokens?.stateOf('spt_sandbox_of_nobody', at(0))).toMatchObject({
      code: 'unknown_token',
    })
  })

  test.each([
    'Books',
    'Late',
    'sandbox',
    'Sandbox lately',
    'Sandbox  late',
    'My sandbox late',
    'Sandbox constructor',
  ])('“%s” asks for none', async name => {
    const { processorCardId } = await issued(name)
    expect(await outcomesOf(processorCardId, 0)).toEqual(every('done'))
  })

  test('is unreachable between two minutes for every call', async () => {
    const { processorCardId } = await issued('Sandbox away 10-70')
    const results = [0, minutes(10) - 1, minutes(10), minutes(70) - 1, minutes(70)].map(milliseconds =>
      outcomesOf(processorCardId, milliseconds),
    )
    expect(await Promise.all(results)).toEqual(['done', 'done', 'late', 'late', 'done'].map(every))
  })

  test('refuses disclosure, or changes', async () => {
    const hidden = await issued('Sandbox hidden')
    const fixed = await issued('Sandbox fixed')
    const [noChange, noData] = ['refused not_changeable', 'refused not_disclosed']
    expect(await outcomesOf(fixed.processorCardId, 0)).toEqual([noChange, noChange, noChange, 'done', 'done'])
    expect(await outcomesOf(hidden.processorCardId, 0)).toEqual(['done', 'done', 'done', noData, noData])
  })

  test('passes a network token the fault that it has itself', async () => {
    const { processorCardId } = await issued('Sandbox away 10-70')
    const { key } = await aKeyPair()
    const recipient = { key, intentId: null, merchantHost: null }
    const token = await processor.networkToken?.(
      { processorCardId, expiresAt: requestedAt },
      recipient,
      at(0),
    )
    const { tokenId } = token as { tokenId: string }
    const suspend = async (milliseconds: number) =>
      outcome((await processor.setNetworkToken?.(tokenId, 'suspended', at(milliseconds))) ?? {})
    expect(await Promise.all([0, minutes(10), minutes(70)].map(suspend))).toEqual(['done', 'late', 'done'])
  })

  test('reads the fault of the name again for the new number of a rotation', async () => {
    const { processorCardId } = await issued('Books')
    const late = newCard({ displayName: 'Sandbox late', requestedAt: addMs(requestedAt, days(1)) })
    const replace = (milliseconds: number) => processor.replace(processorCardId, late, at(milliseconds))
    expect(outcome(await replace(days(1)))).toBe('late')
    expect(outcome(await replace(days(1) + minutes(1)))).toBe('done')
  })
})

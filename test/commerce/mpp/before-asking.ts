import { describe, expect, test } from '@jest/globals'
import { merchantUrlProblem } from '../../../src/commerce/mpp/pay/ask.ts'
import type { Mode } from '../../../src/kernel/contract/actor.ts'
import type { Systems } from '../../../src/kernel/contract/ports.ts'
import { lastAsk } from '../../support/cards/reveal.ts'
import { demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { aPayer, credentialsOn, type Payer, pay } from '../../support/commerce/payers.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { advance } from '../../support/sandbox.ts'
import { service } from './service.ts'

const merchant = await startMerchant()
const url = merchant.sells('/never-asked', demand())

type Before = (payer: Payer) => Promise<unknown>

const cases: readonly (readonly [string, number, string, RegExp, Before])[] = [
  [
    'an intent that is not approved',
    400,
    'intent_not_approved',
    /approved/,
    ({ client, intent }) => client.intents.cancel({ params: { id: intent.id }, body: {} }),
  ],
  [
    'an intent whose time is over',
    400,
    'intent_not_approved',
    /approved/,
    ({ client }) => advance(client, { days: 2 }),
  ],
  [
    'a card that is frozen',
    400,
    'card_not_active',
    /Unfreeze it/,
    ({ client, card }) => client.cards.freeze({ params: { id: card.id }, body: {} }),
  ],
  [
    'a card that is closed',
    400,
    'card_not_active',
    /permanently closed/,
    ({ client, card }) => client.cards.close({ params: { id: card.id }, body: {} }),
  ],
  [
    'a frozen agent',
    400,
    'agent_not_active',
    /frozen/,
    ({ client, agent }) => client.agents.freeze({ params: { id: agent.id }, body: {} }),
  ],
  [
    'a merchant that a rule denies',
    403,
    'merchant_denied',
    /protectrule_\w+ denies.*DELETE \/mpp\/protect/,
    ({ client }) =>
      bodyOf(client.mpp.protect({ body: { type: 'deny', merchant: `http://127.0.0.1:${merchant.port}` } })),
  ],
  [
    'a merchant that is denied and allowed',
    403,
    'merchant_denied',
    /denies/,
    async ({ client, agent }) => {
      await bodyOf(client.mpp.protect({ body: { type: 'allow', merchant: '127.0.0.1', agentId: agent.id } }))
      await bodyOf(client.mpp.protect({ body: { type: 'deny', merchant: '127.0.0.1' } }))
    },
  ],
  [
    'a merchant beside those that are allowed',
    403,
    'merchant_not_allowed',
    /only what an allow rule covers is paid/,
    ({ client }) => bodyOf(client.mpp.protect({ body: { type: 'allow', merchant: 'shop.example.com' } })),
  ],
]

describe('before the first request', () => {
  test.each(cases)('%s is a %i: %s', async (_, status, code, error, before) => {
    const payer = await aPayer(service)
    await before(payer)
    const answer = await pay(payer, url, { cardId: payer.card.id })
    expect(answer).toMatchObject({ status, code, error: expect.stringMatching(error) })
    expect(await lastAsk(payer.client)).toMatchObject({ way: 'mpp', decision: 'denied' })
    expect(await credentialsOn(payer.client, payer.intent.id)).toEqual([])
  })

  test.each([
    ['http://10.0.0.1/', 'url_refused', /10\.0\.0\.1/],
    ['https://169.254.169.254/latest', 'url_refused', /metadata/],
    ['ftp://127.0.0.1/', 'url_refused', /https/],
    ['https://ada:secret@127.0.0.1/', 'url_refused', /user name/],
    ['http://shop.example.com/', 'https_required', /OUTBOUND_ALLOW_CIDRS/],
    ['nothing', 'url_refused', /http/],
  ])('%s is refused: %s', async (address, code, error) => {
    const payer = await aPayer(service)
    expect(await pay(payer, address)).toMatchObject({
      status: 400,
      code,
      error: expect.stringMatching(error),
    })
  })

  test.each([
    ['shop.example.com', /for shop\.example\.com, not for 127\.0\.0\.1/],
    ['Bookshop', /nothing proves that 127\.0\.0\.1 is that merchant/],
  ])('an intent for %s pays nobody else', async (name, error) => {
    const payer = await aPayer(service, { merchant: name })
    expect(await pay(payer, url)).toMatchObject({
      status: 400,
      code: 'merchant_mismatch',
      error: expect.stringMatching(error),
    })
  })

  test('an intent that is paid by a transfer, or of another agent, pays no merchant', async () => {
    const payer = await aPayer(service)
    const other = await aPayer(service)
    const { id: walletId } = await bodyOf(payer.client.wallets.create({ body: { name: 'Bookshop' } }))
    const byWallet = await anIntent(payer.client, payer.agent.id, { walletId })
    expect(await pay(payer, url, { intentId: byWallet.id })).toMatchObject({ code: 'intent_not_by_card' })
    expect(await pay(payer, url, { intentId: other.intent.id })).toMatchObject({ code: 'intent_not_found' })
    expect(await pay(payer, url, { cardId: other.card.id })).toMatchObject({ code: 'card_not_found' })
  })

  test('a paid intent is refused as already paid', async () => {
    const payer = await aPayer(service)
    expect(await pay(payer, merchant.sells('/once', demand(), sell()))).toMatchObject({ status: 200 })
    expect(await pay(payer, url)).toMatchObject({
      status: 400,
      code: 'intent_not_approved',
      error: 'intentId: the intent is already paid. Declare another intent for another payment.',
    })
  })

  test('no merchant was called in any of these cases', () => {
    expect(merchant.visits('/never-asked')).toEqual([])
  })

  const problemOf = (address: string, mode: Mode, isAllowed: boolean) => {
    const outbound = { judge: () => undefined, isAllowed: () => isAllowed } as unknown as Systems['outbound']
    return merchantUrlProblem(address, { systems: { outbound }, tenant: { ownerId: 'customer_1', mode } })
      ?.code
  }

  test('live money is never paid over plain http, and test money only where the operator has opened it', () => {
    expect(problemOf('http://shop.example.com/', 'live', true)).toBe('https_required')
    expect(problemOf('http://shop.example.com/', 'test', false)).toBe('https_required')
    expect(problemOf('http://127.0.0.1/', 'test', true)).toBeUndefined()
    expect(problemOf('https://shop.example.com/', 'live', false)).toBeUndefined()
  })
})

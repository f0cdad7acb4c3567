import { describe, expect, test } from '@jest/globals'
import { refusal } from '../../support/cards/stripe-double.ts'
import { answerWith, demand, startMerchant } from '../../support/commerce/merchant.ts'
import { balanceOf, intentOf, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { advance } from '../../support/sandbox.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import {
  aStripePayer,
  askIssuer,
  credentialOf,
  double,
  merchantFor,
  tokens,
  transactionsOf,
} from './service.ts'

const merchant = await startMerchant()
const offers = demand({
  details: { networkId: double.seller.profile, paymentMethodTypes: ['card'] },
  parameters: { method: 'stripe' },
})

const revoked = { status: 'deactivated', deactivated_reason: 'revoked' }

describe('a shared payment token', () => {
  test('is revoked once its payment is resolved as not paid, and the intent can be paid again', async () => {
    const payer = await aStripePayer()
    const before = await balanceOf(payer)
    const url = merchant.sells('/spt-fails', offers, answerWith(500))
    expect(await pay(payer, url)).toMatchObject({ status: 502, code: 'payment_indeterminate' })
    expect(merchant.payments('/spt-fails')).toHaveLength(1)
    expect(await balanceOf(payer)).toEqual(before)
    const { id = '' } = (await credentialOf(payer)) ?? {}
    await bodyOf(payer.client.mpp.resolve({ params: { id }, body: { outcome: 'not_paid' } }))
    await advance(payer.client, { minutes: 1 })
    expect(tokens().at(-1)).toMatchObject(revoked)
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', outcomeBy: 'key', dueAt: null })
    // No one can charge the token now: a purchase of the same amount is one by the card's number.
    expect(await askIssuer('iauth_after_revocation', payer.processorCardId, 2_000)).toBe(true)
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', outcomeBy: 'key' })
    expect(await pay(payer, (await merchantFor()).url)).toMatchObject({ status: 200 })
    await expectVerifiedLedger(payer.client)
  })

  test('that has expired is not taken for a purchase by number, which costs the same', async () => {
    const payer = await aStripePayer()
    const url = merchant.sells('/spt-expires', offers, answerWith(500))
    expect(await pay(payer, url)).toMatchObject({ status: 502, code: 'payment_indeterminate' })
    await advance(payer.client, { minutes: 25 * 60 })
    expect(await askIssuer('iauth_after_expiry', payer.processorCardId, 2_000)).toBe(true)
    expect(await credentialOf(payer)).toMatchObject({ status: 'indeterminate' })
    await expectVerifiedLedger(payer.client)
  })

  test('of a payment that was not paid is not taken for that of the next attempt', async () => {
    const payer = await aStripePayer()
    const url = merchant.sells('/spt-fails-once', offers, answerWith(500))
    expect(await pay(payer, url)).toMatchObject({ status: 502, code: 'payment_indeterminate' })
    const { id = '' } = (await credentialOf(payer)) ?? {}
    await bodyOf(payer.client.mpp.resolve({ params: { id }, body: { outcome: 'not_paid' } }))
    await advance(payer.client, { minutes: 1 })
    expect(await pay(payer, (await merchantFor()).url)).toMatchObject({ status: 200 })
    expect(await bodyOf(payer.client.mpp.get({ params: { id } }))).toMatchObject({ status: 'void' })
    expect(await credentialOf(payer)).toMatchObject({ status: 'consumed' })
    await expectVerifiedLedger(payer.client)
  })

  test('that its caller got holds the money as long as it can be charged', async () => {
    const payer = await aStripePayer()
    const free = await balanceOf(payer)
    const { url } = await merchantFor()
    const challenge = (await fetch(url)).headers.get('www-authenticate') ?? ''
    await bodyOf(payer.agentClient.mpp.mint({ body: { intentId: payer.intent.id, challenge, url } }))
    expect(tokens().at(-1)).toMatchObject({ status: 'active' })
    await advance(payer.client, { minutes: 3 })
    expect(await credentialOf(payer)).toMatchObject({ status: 'minted' })
    await advance(payer.client, { minutes: 5 })
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', outcomeBy: 'deadline' })
    expect(tokens().at(-1)).toMatchObject(revoked)
    expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
    expect(await balanceOf(payer)).toEqual(free)
  })

  test('that Stripe does not revoke while it is active is revoked later', async () => {
    const payer = await aStripePayer()
    const url = merchant.sells('/spt-stays', offers, answerWith(500))
    await pay(payer, url)
    double.break(/revoke$/, refusal(400, { message: 'A payment by this token is under way.' }))
    const { id = '' } = (await credentialOf(payer)) ?? {}
    await bodyOf(payer.client.mpp.resolve({ params: { id }, body: { outcome: 'not_paid' } }))
    await advance(payer.client, { minutes: 1 })
    expect(tokens().at(-1)).toMatchObject({ status: 'active' })
    double.heal()
    await advance(payer.client, { minutes: 15 })
    expect(tokens().at(-1)).toMatchObject(revoked)
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', dueAt: null })
  })

  test('is revoked at Stripe as soon as a key revokes it', async () => {
    const payer = await aStripePayer()
    const url = merchant.sells('/spt-of-a-key', offers, answerWith(500))
    expect(await pay(payer, url)).toMatchObject({ status: 502, code: 'payment_indeterminate' })
    expect(tokens().at(-1)).toMatchObject({ status: 'active' })
    const { agentCredentialId = '' } = (await credentialOf(payer)) ?? {}
    await bodyOf(payer.client.agentCredentials.revoke({ params: { id: agentCredentialId } }))
    expect(tokens().at(-1)).toMatchObject(revoked)
  })

  test('that Stripe does not create leaves nothing open', async () => {
    const payer = await aStripePayer()
    const before = await balanceOf(payer)
    double.break(
      /^POST payment_methods$/,
      refusal(400, { code: 'parameter_unknown', message: 'Received unknown parameter: card[issuing_card]' }),
    )
    const { url } = await merchantFor()
    expect(await pay(payer, url)).toMatchObject({ status: 502, code: 'processor_refused' })
    double.heal()
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', sentAt: null, credentialDigest: '' })
    expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
    expect(await balanceOf(payer)).toEqual(before)
    expect(await pay(payer, url)).toMatchObject({ status: 200 })
  })

  test('that a key revokes while it is created ends its payment at once, and is never sent', async () => {
    const payer = await aStripePayer()
    const free = await balanceOf(payer)
    const created = tokens().length
    double.afterwards(/^POST shared_payment\/issued_tokens$/, async response => {
      const { agentCredentialId = '' } = (await credentialOf(payer)) ?? {}
      await payer.client.agentCredentials.revoke({ params: { id: agentCredentialId } })
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(tokens().at(-1)))
    })
    const url = merchant.sells('/spt-revoked', offers)
    expect(await pay(payer, url)).toMatchObject({ status: 403, code: 'payment_denied' })
    double.heal()
    expect(tokens()).toHaveLength(created + 1)
    await advance(payer.client, { minutes: 1 })
    expect(tokens().at(-1)).toMatchObject(revoked)
    expect(merchant.payments('/spt-revoked')).toHaveLength(0)
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', dueAt: null })
    expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
    expect(await balanceOf(payer)).toEqual(free)
  })

  test('that was created without an answer is found by its key and revoked, and is never sent', async () => {
    const payer = await aStripePayer()
    const created = tokens().length
    double.afterwards(/^POST shared_payment\/issued_tokens$/, response => response.destroy())
    const url = merchant.sells('/spt-lost', offers)
    expect(await pay(payer, url)).toMatchObject({ status: 504, code: 'processor_silent' })
    double.heal()
    expect(tokens()).toHaveLength(created + 1)
    expect(tokens().at(-1)).toMatchObject({ status: 'active' })
    await advance(payer.client, { minutes: 1 })
    expect(tokens()).toHaveLength(created + 1)
    expect(tokens().at(-1)).toMatchObject(revoked)
    expect(merchant.payments('/spt-lost')).toHaveLength(0)
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', dueAt: null })
    expect(await transactionsOf(payer)).toEqual([])
  })
})

import { afterEach, describe, expect, test } from '@jest/globals'
import { answerWith, demand, startMerchant } from '../../support/commerce/merchant.ts'
import { balanceOf, intentOf, pay } from '../../support/commerce/payers.ts'
import { withdrawals } from '../../support/commerce/withdrawals.ts'
import { aToken, bodyOf } from '../../support/factories.ts'
import { aHost } from '../../support/http/tasks.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { advance } from '../../support/sandbox.ts'
import { until } from '../../support/until.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import {
  aStripePayer,
  cleared,
  credentialOf,
  double,
  merchantFor,
  type StripePayer,
  service,
  tokens,
  transactionsOf,
} from './service.ts'

const merchant = await startMerchant()
const offers = demand({
  details: { networkId: double.seller.profile, paymentMethodTypes: ['card'] },
  parameters: { method: 'stripe' },
})

afterEach(() => {
  double.holder.isAsked = 'never'
  double.heal()
})

const REVOKED = { status: 'deactivated', deactivated_reason: 'revoked' }
const pageOf = (tokenId: string) => `https://hooks.stripe.com/redirect/authenticate/${tokenId}`
const lastToken = () => String(tokens().at(-1)?.id)

const eventsOf = async ({ client }: StripePayer, event: string) =>
  (await bodyOf(client.events.list({ query: { event, limit: 100 } }))).data

/** A payment of € 20 whose issuer wants to ask a person. */
async function aWaitingPayment(path: string) {
  const payer = await aStripePayer()
  const before = await balanceOf(payer)
  const url = merchant.sells(path, offers)
  double.holder.isAsked = 'token'
  const asked = await pay(payer, url)
  double.holder.isAsked = 'never'
  return { payer, before, url, asked, tokenId: lastToken() }
}

async function expectPaidOnce(payer: StripePayer, path: string) {
  expect(merchant.payments(path)).toHaveLength(1)
  expect(await credentialOf(payer)).toMatchObject({ status: 'consumed', nextAction: null })
  expect(await transactionsOf(payer)).toMatchObject([{ type: 'mpp', amountEuros: 20 }])
  expect(await intentOf(payer)).toMatchObject({ status: 'completed' })
  await expectVerifiedLedger(payer.client)
}

async function expectUnpaid({ payer, before, tokenId }: Awaited<ReturnType<typeof aWaitingPayment>>) {
  expect(await credentialOf(payer)).toMatchObject({ status: 'void', sentAt: null, nextAction: null })
  expect(double.tokens.get(tokenId)).toMatchObject(REVOKED)
  expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
  expect(await balanceOf(payer)).toEqual(before)
  await expectVerifiedLedger(payer.client)
}

describe('a shared payment token that a person must confirm', () => {
  test('waits with a page for the person, and the same request pays once it is confirmed', async () => {
    const path = '/asks'
    const { payer, before, url, asked, tokenId } = await aWaitingPayment(path)
    expect(asked).toMatchObject({ status: 409, code: 'action_required' })
    expect(asked.error).toContain(pageOf(tokenId))
    const credential = await credentialOf(payer)
    expect(credential).toMatchObject({
      status: 'minted',
      sentAt: null,
      credentialDigest: '',
      nextAction: { type: 'redirect', url: pageOf(tokenId) },
    })
    const { return_url } = double.tokens.get(tokenId) ?? {}
    expect(return_url).toMatch(new RegExp(`/console/machine-payments/${credential?.id}$`))
    const waitsMs = Date.parse(credential?.dueAt ?? '') - Date.parse(credential?.createdAt ?? '')
    expect(waitsMs > 3 * 60_000 && waitsMs <= 6 * 60_000).toBe(true)
    expect(merchant.payments(path)).toEqual([])
    expect(await balanceOf(payer)).toEqual(before)
    const { headers } = await signedInTo(service, payer.owner, { role: 'owner' })
    const page = async (path: string) => {
      const answer = await fetch(`${service.url}/console/${path}`, {
        headers: { ...headers, accept: 'text/html' },
      })
      return answer.text()
    }
    const button = `href="${pageOf(tokenId)}">Confirm the payment</a>`
    expect(await page(`machine-payments/${credential?.id}`)).toContain(button)
    const inbox = await page('inbox')
    expect(inbox).toContain(button)
    expect(inbox).toContain('<span class="badge">1<')
    const waiting = payer.client.mpp.list({ query: { waitsFor: 'person' } })
    expect((await bodyOf(waiting)).data.map(({ id }) => id)).toEqual([credential?.id])

    const made = tokens().length
    expect(await pay(payer, url)).toMatchObject({ status: 409, code: 'action_required' })
    expect(await pay(payer, `${url}?other`)).toMatchObject({ code: 'intent_being_paid' })
    expect(await pay(payer, url, { body: 'another' })).toMatchObject({ code: 'intent_being_paid' })
    expect(await eventsOf(payer, 'mpp.credential.action_required')).toHaveLength(1)

    await double.holder.confirms(tokenId)
    // Both are the same payment: each that comes in time gets what was bought.
    const answers = await Promise.all([pay(payer, url), pay(payer, url)])
    const paid = answers.filter(({ status }) => status === 200)
    expect(new Set(paid.map(({ body }) => body.credential_id))).toEqual(new Set([credential?.id]))
    expect(tokens()).toHaveLength(made)
    await expectPaidOnce(payer, path)
    expect(await page('inbox')).not.toContain('Confirm the payment')
  })

  test('is paid by the same tool call once it is confirmed, for a host that takes tasks', async () => {
    const path = '/asks-a-host'
    const payer = await aStripePayer()
    const { token } = await aToken(payer.client, payer.agent.id)
    const host = aHost(service.url, String(token))
    const payment = { url: merchant.sells(path, offers), intentId: payer.intent.id }
    double.holder.isAsked = 'token'
    const { taskId } = await host.call('pay_http_402', payment)
    await advance(payer.client, { minutes: 1 })
    const { result } = await until('the task is over', async () => {
      const { result } = await host.get(taskId)
      return result.status === 'completed' ? result : undefined
    })
    const asked = { error: { code: 'action_required' } }
    expect(result.structuredContent).toMatchObject(asked)
    double.holder.isAsked = 'never'
    expect((await host.call('pay_http_402', payment)).structuredContent).toMatchObject(asked)
    await double.holder.confirms(lastToken())
    const paid = await host.call('pay_http_402', payment)
    expect(paid.structuredContent).toMatchObject({ merchant_status: 200 })
    await expectPaidOnce(payer, path)
  })

  test('is paid as the merchant’s software charges it', async () => {
    const payer = await aStripePayer()
    const { url } = await merchantFor()
    double.holder.isAsked = 'token'
    expect(await pay(payer, url)).toMatchObject({ code: 'action_required' })
    double.holder.isAsked = 'never'
    await double.holder.confirms(lastToken())
    expect(await bodyOf(pay(payer, url))).toMatchObject({ merchant_body: { report: 42 } })
    expect(tokens().at(-1)).toMatchObject({ deactivated_reason: 'consumed' })
    expect(await transactionsOf(payer)).toHaveLength(1)
  })

  test('is shown to its caller once it is confirmed, for the same challenge', async () => {
    const payer = await aStripePayer()
    const { url } = await merchantFor()
    const challengeAt = async () => (await fetch(url)).headers.get('www-authenticate') ?? ''
    const challenge = await challengeAt()
    const mint = (given: string) =>
      payer.agentClient.mpp.mint({ body: { intentId: payer.intent.id, challenge: given, url } })
    double.holder.isAsked = 'token'
    expect(await mint(challenge)).toMatchObject({ status: 409, code: 'action_required' })
    await double.holder.confirms(lastToken())
    expect(await mint(await challengeAt())).toMatchObject({ code: 'intent_being_paid' })
    const minted = await bodyOf(mint(challenge))
    expect(minted).toMatchObject({ status: 'minted', nextAction: null, header: 'Authorization' })
    const { status } = await fetch(url, { headers: { authorization: String(minted.credential) } })
    expect(status).toBe(200)
    expect(await mint(challenge)).toMatchObject({ code: 'intent_being_paid' })
  })

  test('that nobody confirms is revoked when it ends, and the intent can be paid again', async () => {
    const waiting = await aWaitingPayment('/asks-in-vain')
    const { payer, url } = waiting
    await advance(payer.client, { minutes: 3 })
    expect(await credentialOf(payer)).toMatchObject({ status: 'minted' })
    await advance(payer.client, { minutes: 4 })
    await expectUnpaid(waiting)
    expect(await credentialOf(payer)).toMatchObject({ outcomeBy: 'deadline' })
    expect(await pay(payer, url)).toMatchObject({ status: 200 })
    await expectPaidOnce(payer, '/asks-in-vain')
  })

  test('that the person does not confirm ends the payment', async () => {
    const waiting = await aWaitingPayment('/asks-refused')
    double.holder.refuses(waiting.tokenId)
    expect(await pay(waiting.payer, waiting.url)).toMatchObject({ status: 502, code: 'processor_refused' })
    await advance(waiting.payer.client, { minutes: 1 })
    await expectUnpaid(waiting)
  })

  test('is ended by its owner, who cannot say that it is paid', async () => {
    const waiting = await aWaitingPayment('/asks-ended')
    const { client } = waiting.payer
    const params = { id: (await credentialOf(waiting.payer))?.id ?? '' }
    const resolve = (outcome: 'paid' | 'not_paid') => client.mpp.resolve({ params, body: { outcome } })
    expect(await resolve('paid')).toMatchObject({ status: 409, code: 'credential_under_way' })
    expect(await resolve('not_paid')).toMatchObject({ status: 200 })
    await advance(client, { minutes: 1 })
    await expectUnpaid(waiting)
  })

  test('waits on while Stripe does not say what has become of it', async () => {
    const { payer, url, tokenId } = await aWaitingPayment('/asks-silent')
    double.break(/^GET shared_payment/, (_, response) => response.destroy())
    expect(await pay(payer, url)).toMatchObject({ status: 504, code: 'processor_silent' })
    expect(await credentialOf(payer)).toMatchObject({ status: 'minted', nextAction: { type: 'redirect' } })
    double.heal()
    await double.holder.confirms(tokenId)
    expect(await pay(payer, url)).toMatchObject({ status: 200 })
    await expectPaidOnce(payer, '/asks-silent')
  })

  test.each([
    [
      'its card is frozen',
      ({ client, card }: StripePayer) => client.cards.freeze({ params: { id: card.id }, body: {} }),
    ],
    [
      'its agent is frozen',
      ({ client, agent }: StripePayer) => client.agents.freeze({ params: { id: agent.id }, body: {} }),
    ],
    [
      'a rule denies the host',
      ({ client }: StripePayer) => client.mpp.protect({ body: { type: 'deny', merchant: '127.0.0.1' } }),
    ],
  ])('is not sent while %s', async (why, deny) => {
    const path = `/asks-${why.replaceAll(' ', '-')}`
    const { payer, url, tokenId } = await aWaitingPayment(path)
    await double.holder.confirms(tokenId)
    expect((await deny(payer)).status).toBeLessThan(300)
    expect((await pay(payer, url)).status).toBeGreaterThanOrEqual(400)
    expect(merchant.payments(path)).toEqual([])
  })

  test.each(withdrawals)(
    'is not sent if, while Stripe says that it is confirmed, %s: %i %s',
    async (what, status, code, withdraw) => {
      const path = `/confirmed-but-${what.replaceAll(' ', '-')}`
      const waiting = await aWaitingPayment(path)
      const { payer, url, tokenId } = waiting
      await double.holder.confirms(tokenId)
      double.afterwards(/^GET shared_payment/, async response => {
        await withdraw(payer)
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(double.tokens.get(tokenId)))
      })
      expect(await pay(payer, url)).toMatchObject({ status, code })
      double.heal()
      expect(merchant.payments(path)).toEqual([])
      await advance(payer.client, { minutes: 1 })
      await expectUnpaid(waiting)
    },
  )

  test('that is confirmed while its time ends is paid once or revoked', async () => {
    const path = '/asks-races'
    const waiting = await aWaitingPayment(path)
    const { payer, url, tokenId } = waiting
    await double.holder.confirms(tokenId)
    const [answer] = await Promise.all([pay(payer, url), advance(payer.client, { minutes: 6 })])
    await until('the payment has ended', async () => (await credentialOf(payer))?.status !== 'minted')
    if (answer.status === 200) return expectPaidOnce(payer, path)
    await advance(payer.client, { minutes: 1 })
    expect(merchant.payments(path)).toEqual([])
    await expectUnpaid(waiting)
  })

  test('without a page ends the payment at once', async () => {
    const payer = await aStripePayer()
    double.break(/^POST shared_payment\/issued_tokens$/, (_, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"id":"spt_without_page","status":"requires_action","next_action":null}'),
    )
    expect(await pay(payer, merchant.sells('/asks-nowhere', offers))).toMatchObject({
      status: 409,
      code: 'action_required',
    })
    expect(await credentialOf(payer)).toMatchObject({ status: 'void', nextAction: null })
    expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
  })
})

describe('a payment that the issuer asks a person about when the merchant charges it', () => {
  test('has the page, and is paid once the person has confirmed', async () => {
    const payer = await aStripePayer()
    const { url } = await merchantFor()
    double.holder.isAsked = 'charge'
    const answer = await pay(payer, url)
    expect(answer).toMatchObject({ status: 502, code: 'payment_indeterminate' })
    const tokenId = lastToken()
    expect(answer.error).toContain(pageOf(tokenId))
    expect(await credentialOf(payer)).toMatchObject({
      status: 'indeterminate',
      nextAction: { type: 'redirect', url: pageOf(tokenId) },
    })
    expect(await eventsOf(payer, 'mpp.credential.action_required')).toHaveLength(1)
    await double.holder.confirms(tokenId)
    await until('the network authorizes it', async () => (await credentialOf(payer))?.nextAction === null)
    expect(await credentialOf(payer)).toMatchObject({ status: 'indeterminate', merchantStatus: 402 })
    const authorized = 'select processor_ref as id from card_authorizations where card_id = $1'
    const [authorization] = await service.sql<{ id: string }>(authorized, [payer.card.id])
    await cleared(String(authorization?.id), payer.processorCardId, 2_000)
    await until('the network clears it', async () => (await credentialOf(payer))?.status === 'consumed')
    expect(await credentialOf(payer)).toMatchObject({ outcomeBy: 'network', nextAction: null })
    expect(await transactionsOf(payer)).toMatchObject([{ type: 'mpp', amountEuros: 20 }])
    await expectVerifiedLedger(payer.client)
  })

  test('has none if the merchant fails for another reason', async () => {
    const payer = await aStripePayer()
    const url = merchant.sells('/fails', offers, answerWith(500))
    expect(await pay(payer, url)).toMatchObject({ status: 502, code: 'payment_indeterminate' })
    expect(await credentialOf(payer)).toMatchObject({ status: 'indeterminate', nextAction: null })
  })
})

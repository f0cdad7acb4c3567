import { describe, expect, test } from '@jest/globals'
import { intentOf, intentsIn } from '../../support/control/intents.ts'
import {
  aBeneficiary,
  aDelegation,
  anIntent,
  aRun,
  aToken,
  aWallet,
  bodyOf,
  redeemDelegation,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { anOwnerWithAgent } = intentsIn(service)
const CASINO = 'DE89370400440532013000'
const BOOKS = 'FR7630006000011234567890189'
const generous = { autoApproveLimitEuros: 1_000 }

/** An owner with an agent under these rules, two beneficiaries (a bookshop and a casino) and a wallet named as the casino. */
async function anOwnerWithPayees(rules: object = {}) {
  const owner = await anOwnerWithAgent({ ...generous, ...rules })
  const { client, agent } = owner
  const casino = await aBeneficiary(client, { name: 'Casino GmbH', iban: CASINO })
  const books = await aBeneficiary(client, { name: 'Bookshop', iban: BOOKS })
  const wallet = await aWallet(client, 0, { name: 'Casino GmbH' })
  const declare = (members: object) =>
    client.intents.create({ body: { agentId: agent.id, amountEuros: 50, purpose: 'Paid', ...members } })
  const casinos = [{ beneficiaryId: casino.id }, { walletId: wallet.id }]
  return { ...owner, casino, books, wallet, declare, casinos }
}

describe('an intent that names a record as its payee', () => {
  test('an intent for a record is refused with a different merchant name, and the refusal names the payee', async () => {
    const { declare, casinos, client } = await anOwnerWithPayees()
    for (const to of casinos) {
      const refused = await declare({ merchant: 'Bookshop', ...to })
      expect(refused).toMatchObject({ status: 400, code: 'payee_mismatch' })
      expect(refused.error).toMatch(/^merchant: Bookshop is not the payee Casino GmbH/)
      expect(await bodyOf(declare(to))).toMatchObject({ merchant: 'Casino GmbH', status: 'approved' })
      expect(await bodyOf(declare({ merchant: ' CASINO  GmbH', ...to }))).toMatchObject({
        merchant: 'Casino GmbH',
      })
    }
    expect((await bodyOf(client.intents.list())).data).toHaveLength(4)
    const nobody = await declare({})
    expect([nobody.status, nobody.error]).toEqual([400, expect.stringMatching(/^merchant: name the payee/)])
  })

  test('is judged by the name of the record in every list', async () => {
    for (const rules of [
      { merchantAllowlist: ['Bookshop'] },
      { merchantBlocklist: ['Casino GmbH'] },
      { merchantBlocklist: ['Casino'] },
    ]) {
      const { declare, casinos, books } = await anOwnerWithPayees(rules)
      for (const to of casinos) expect(await bodyOf(declare(to))).toMatchObject({ status: 'denied' })
      expect(await bodyOf(declare({ beneficiaryId: books.id }))).toMatchObject({ status: 'approved' })
    }
  })

  test('is judged by the IBAN of the record, and a denial shows only its last four digits', async () => {
    const { declare, casino, books, wallet } = await anOwnerWithPayees({
      merchantBlocklist: ['DE89 3704 0044 0532 0130 00'],
    })
    const denied = await bodyOf(declare({ beneficiaryId: casino.id }))
    expect(denied.decision.reason).toBe('Casino GmbH is on the blocklist, as the IBAN that ends in 3000.')
    expect((await bodyOf(declare({ walletId: wallet.id }))).status).toBe('approved')
    expect((await bodyOf(declare({ beneficiaryId: books.id }))).status).toBe('approved')
    const owner = await anOwnerWithPayees({ merchantAllowlist: [CASINO] })
    expect((await bodyOf(owner.declare({ beneficiaryId: owner.casino.id }))).status).toBe('approved')
    expect((await bodyOf(owner.declare({ beneficiaryId: owner.books.id }))).status).toBe('denied')
    expect((await bodyOf(owner.declare({ merchant: CASINO }))).status).toBe('denied')
  })

  test('is judged by the country of the beneficiary', async () => {
    const { declare, casino, books } = await anOwnerWithPayees({ allowedCountries: ['FR'] })
    expect((await bodyOf(declare({ beneficiaryId: casino.id }))).status).toBe('denied')
    expect(await bodyOf(declare({ beneficiaryId: books.id }))).toMatchObject({
      status: 'approved',
      country: 'FR',
    })
    const refused = await declare({ beneficiaryId: casino.id, country: 'FR' })
    expect([refused.code, refused.error]).toEqual(['payee_mismatch', expect.stringMatching(/^country: /)])
  })

  test('is judged by the record in delegations, duplicates and simulations too', async () => {
    const { client, agent, casino, books } = await anOwnerWithPayees()
    const delegation = await aDelegation(client, agent.id, { maxAmountEuros: 500, merchant: 'Bookshop' })
    const tokenClient = service.client(String((await redeemDelegation(client, delegation)).token))
    const by = (members: object) =>
      bodyOf(tokenClient.intents.create({ body: { amountEuros: 5, purpose: 'Paid', ...members } }))
    expect((await by({ beneficiaryId: casino.id })).status).toBe('denied')
    expect((await by({ beneficiaryId: books.id })).status).toBe('approved')
    expect((await by({ merchant: 'PAYPAL *EVIL' })).status).toBe('denied')
    const { id: runId } = await aRun(client, agent.id)
    const first = await anIntent(client, agent.id, { runId, beneficiaryId: books.id })
    const second = await anIntent(client, agent.id, { runId, merchant: 'BOOKSHOP' })
    expect(second.possibleDuplicateOf).toBe(first.id)
    const policy = { name: 'P', ...generous, merchantBlocklist: ['Casino'] }
    const simulate = (body: object) =>
      client.intents.simulate({ body: { policy, amountEuros: 5, ...body } } as never)
    expect((await simulate({ beneficiaryId: casino.id })).body.allowed).toBe(false)
    expect((await simulate({ beneficiaryId: books.id })).body.allowed).toBe(true)
    expect((await simulate({ beneficiaryId: casino.id, merchant: 'Bookshop' })).code).toBe('payee_mismatch')
    expect((await simulate({ beneficiaryId: 'beneficiary_1' })).code).toBe('beneficiary_not_found')
  })

  test.each([
    ['name', { name: 'Roulette GmbH' }],
    ['IBAN', { iban: BOOKS }],
  ])('is not paid once the record has another %s', async (_, change) => {
    const { client, agent, casino } = await anOwnerWithPayees()
    const { id: intentId } = await anIntent(client, agent.id, { beneficiaryId: casino.id })
    const body = { fromWalletId: agent.walletId, beneficiaryId: casino.id, amountEuros: 25, intentId }
    await bodyOf(client.beneficiaries.update({ params: { id: casino.id }, body: change }))
    const refused = await client.transfers.create({ body })
    expect(refused).toMatchObject({ status: 400, code: 'intent_payee_changed' })
    expect(await intentOf(client, intentId)).toMatchObject({ status: 'approved', transactionId: null })
    const back = { name: 'Casino GmbH', iban: CASINO }
    await bodyOf(client.beneficiaries.update({ params: { id: casino.id }, body: back }))
    expect(await bodyOf(client.transfers.create({ body }))).toMatchObject({ status: 'created' })
  })

  test('is not paid if its stored merchant is not the name of the record', async () => {
    const { client, agent, wallet } = await anOwnerWithPayees()
    const { id: intentId } = await anIntent(client, agent.id, { walletId: wallet.id })
    await service.sql(`update intents set merchant = 'Bookshop', payee_iban = null where id = $1`, [intentId])
    const body = { fromWalletId: agent.walletId, toWalletId: wallet.id, amountEuros: 25, intentId }
    expect((await client.transfers.create({ body })).code).toBe('intent_payee_changed')
  })
})

describe('the token of an agent', () => {
  test('may leave out `agentId`, and a key may not', async () => {
    const { client, agent } = await anOwnerWithAgent(generous)
    const tokenClient = service.client(String((await aToken(client, agent.id)).token))
    const purpose = 'A paper on caching'
    const body = { amountEuros: 5, merchant: 'Bookshop' }
    expect((await bodyOf(tokenClient.intents.create({ body: { ...body, purpose } }))).agentId).toBe(agent.id)
    expect((await bodyOf(tokenClient.runs.create({ body: { name: 'Reading' } }))).agentId).toBe(agent.id)
    expect((await bodyOf(tokenClient.intents.simulate({ body }))).allowed).toBe(true)
    expect((await tokenClient.merchants.suggestions()).status).toBe(200)
    for (const answer of [
      await client.intents.create({ body: { ...body, purpose } }),
      await client.runs.create({ body: { name: 'Reading' } }),
      await client.intents.simulate({ body }),
      await client.merchants.suggestions(),
    ])
      expect(answer).toMatchObject({
        status: 400,
        code: 'agent_required',
        error: expect.stringMatching(/^agentId: /),
      })
  })
})

test('lists of intents and transactions find a merchant in any case', async () => {
  const { client, agent, wallet } = await anOwnerWithPayees()
  const paid = await anIntent(client, agent.id, { walletId: wallet.id })
  const umlaut = await anIntent(client, agent.id, { merchant: 'BÄCKEREI Müller' })
  const body = { fromWalletId: agent.walletId, toWalletId: wallet.id, amountEuros: 25, intentId: paid.id }
  await bodyOf(client.transfers.create({ body }))
  const idsFor = async (merchant: string) =>
    (await bodyOf(client.intents.list({ query: { merchant } }))).data.map(({ id }) => id)
  for (const merchant of ['casino gmbh', 'CASINO GMBH', ' Casino GmbH ']) {
    expect(await idsFor(merchant)).toEqual([paid.id])
    const { data } = await bodyOf(client.transactions.list({ query: { merchant } }))
    expect(data.map(({ intentId }) => intentId)).toEqual([paid.id])
  }
  expect(await idsFor('bäckerei MÜLLER')).toEqual([umlaut.id])
  expect(await idsFor('Casino')).toEqual([])
})

test('a simulation right after the clock has moved goes by the new time', async () => {
  const { client, agent } = await anOwnerWithAgent({
    ...generous,
    expiresAfterMinutes: 60,
    expirationAction: 'freeze',
  })
  const simulate = () =>
    bodyOf(client.intents.simulate({ body: { agentId: agent.id, amountEuros: 5, merchant: 'Bookshop' } }))
  expect((await simulate()).allowed).toBe(true)
  for (let round = 1; round <= 5; round++) {
    await bodyOf(client.sandbox.advance({ body: { minutes: 12 } }))
    const { offsetSeconds } = await bodyOf(client.sandbox.clock())
    expect([offsetSeconds, (await simulate()).allowed]).toEqual([round * 720, round < 5])
  }
})

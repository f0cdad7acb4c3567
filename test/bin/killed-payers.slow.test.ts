import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Conduct, demand, sell, startMerchant } from '../support/commerce/merchant.ts'
import { anAgentUnder, anIntent, aToken, bodyOf, type TestClient } from '../support/factories.ts'
import { type KillableApi, killableApi } from '../support/processes/killable-api.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const merchant = await startMerchant()
let api!: KillableApi
beforeAll(async () => {
  api = await killableApi({ OUTBOUND_ALLOW_CIDRS: '127.0.0.1' })
})
afterAll(() => api.stop())

interface Payer {
  readonly owner: () => TestClient
  readonly agent: () => TestClient
  readonly agentId: string
  readonly cardId: string
  readonly intentId: string
}

/** An agent with a card and a hold of € 20 for the merchant; its clients outlive the process. */
async function aPayer(displayName = 'Research'): Promise<Payer> {
  const key = await api.owner()
  const client = api.client(key)
  const { id: agentId } = await anAgentUnder(client, { autoApproveLimitEuros: 1_000 })
  const { id: cardId } = await bodyOf(client.cards.create({ body: { agentId, usage: 'multi', displayName } }))
  const { id: intentId } = await anIntent(client, agentId, { merchant: '127.0.0.1', amountEuros: 20 })
  const { token } = await aToken(client, agentId)
  const agent = () => api.client(String(token))
  return { owner: () => api.client(key), agent, agentId, cardId, intentId }
}

const pay = ({ agent, intentId }: Payer, url: string, idempotencyKey: string) =>
  agent().mpp.pay({ body: { url, intentId }, idempotencyKey })

const credentials = async ({ owner, intentId }: Payer) =>
  (await bodyOf(owner().mpp.list({ query: { intentId } }))).data

async function money({ owner, agentId }: Payer) {
  const { availableEuros, heldEuros } = await bodyOf(owner().agents.balance({ params: { id: agentId } }))
  return { availableEuros, heldEuros }
}

const holdAgent = ({ agentId }: Payer) => api.hold('select from agents where id = $1 for update', [agentId])

/** As if no time had passed since the kill: on a busy machine the process may count as dead by now. */
const keepLeases = () =>
  api.sql(`update process_leases set held_until = clock_timestamp() + interval '1 minute'`)

/** As if two minutes had passed: the request counts as left, and the lease of its process is gone. */
async function lapseLease(): Promise<void> {
  await api.sql(`update idempotency_keys set created_at = created_at - interval '3 minutes'`)
  await api.sql('delete from process_leases where id in (select claimed_by from mpp_payments)')
}

const advance = ({ owner }: Payer, by: { minutes: number } | { days: number }) =>
  bodyOf(owner().sandbox.advance({ body: by }))

const never: Conduct = () => undefined
const halfOfIt: Conduct = (_, response) =>
  void response.writeHead(200, { 'content-length': 1_000 }).write('half of it')

describe('an API process that is killed before a credential is on record', () => {
  test.each([
    ['while the merchant is asked', 'asked'],
    ['while it decides, with a token minted', 'decides'],
  ])('%s has paid nothing, and the repetition goes on: paid once', async (_, step) => {
    const path = `/${step}`
    const payer = await aPayer()
    const before = await money(payer)
    const url = merchant.sells(path, step === 'asked' ? never : demand())
    const release = step === 'asked' ? undefined : await holdAgent(payer)
    const isThere = async () => merchant.visits(path).length > 0 && (!release || (await api.isWaiting()))
    await api.killDuring(() => pay(payer, url, step), isThere)
    await release?.()
    expect(merchant.payments(path)).toEqual([])
    expect(await credentials(payer)).toEqual([])
    expect(await money(payer)).toEqual(before)
    await lapseLease()
    merchant.sells(path, demand())
    const paid = await pay(payer, url, step)
    expect(paid).toMatchObject({ status: 200 })
    expect(await pay(payer, url, step)).toMatchObject({ status: 200, body: paid.body })
    expect(merchant.payments(path)).toHaveLength(1)
    expect(await credentials(payer)).toMatchObject([{ status: 'consumed' }])
    await expectVerifiedLedger(payer.owner())
  })
})

describe('an API process that is killed once the credential has left', () => {
  /** Kills the process while it pays; returns how the same request is repeated. */
  async function killed(payer: Payer, path: string, gives: Conduct) {
    let release: (() => Promise<void>) | undefined
    const url = merchant.sells(path, demand(), async (visit, response) => {
      // Recording locks the agent first, so it waits.
      if (gives === recorded) release = await holdAgent(payer)
      gives(visit, response)
    })
    const isThere = async () =>
      merchant.payments(path).length > 0 && (gives !== recorded || (await api.isWaiting()))
    await api.killDuring(() => pay(payer, url, path), isThere)
    await release?.()
    return () => pay(payer, url, path)
  }
  const recorded = sell()

  test.each<[string, Conduct]>([
    ['while the merchant is silent', never],
    ['in the middle of its answer', halfOfIt],
    ['while a good answer is recorded', recorded],
  ])('%s leaves the outcome open: the money stays held, nothing is sent again', async (when, gives) => {
    const path = `/${when.replace(/\W+/g, '-')}`
    const payer = await aPayer()
    const before = await money(payer)
    const again = await killed(payer, path, gives)
    expect(await credentials(payer)).toMatchObject([{ status: 'sent' }])
    await keepLeases()
    expect(await again()).toMatchObject({ status: 409, code: 'in_progress' })
    await lapseLease()
    const answer = await again()
    expect(answer).toMatchObject({ status: 502, code: 'payment_indeterminate' })
    expect(await again()).toMatchObject({ status: 502, error: answer.error })
    expect(await credentials(payer)).toMatchObject([{ status: 'indeterminate' }])
    expect(merchant.payments(path)).toHaveLength(1)
    expect(await money(payer)).toEqual(before)
  })

  test('is found by its deadline without the caller, and paid once where the owner says so', async () => {
    const payer = await aPayer()
    const before = await money(payer)
    await killed(payer, '/found', never)
    await advance(payer, { minutes: 5 })
    const [credential] = await credentials(payer)
    expect(credential).toMatchObject({ status: 'indeterminate' })
    await bodyOf(
      payer.owner().mpp.resolve({ params: { id: credential?.id ?? '' }, body: { outcome: 'paid' } }),
    )
    expect(await credentials(payer)).toMatchObject([{ status: 'consumed', outcomeBy: 'key' }])
    expect(await money(payer)).toEqual({ ...before, heldEuros: 0 })
    expect(merchant.payments('/found')).toHaveLength(1)
    await expectVerifiedLedger(payer.owner())
  })

  test('is not paid after 31 days, and the money is free', async () => {
    const payer = await aPayer()
    const { availableEuros } = await money(payer)
    await killed(payer, '/forgotten', never)
    await advance(payer, { days: 32 })
    expect(await credentials(payer)).toMatchObject([{ status: 'void', outcomeBy: 'deadline' }])
    expect(await money(payer)).toEqual({ availableEuros: availableEuros + 20, heldEuros: 0 })
    await expectVerifiedLedger(payer.owner())
  })
})

describe('an API process that is killed while it creates a shared payment token', () => {
  const offers = demand({
    details: { networkId: 'profile_test_sandbox', paymentMethodTypes: ['card'] },
    parameters: { method: 'stripe' },
  })
  /** The step that records a token waits for this lock: the token has been created, and is on no record. */
  const TOKEN_LOCK = 4_028
  beforeAll(async () => {
    await api.sql(`
      create function wait_for_token_lock() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock_shared(${TOKEN_LOCK}); return new; end $$`)
    await api.sql(`
      create trigger wait_for_token_lock before update on mpp_credentials for each row
      when (old.credential_digest = '' and new.credential_digest <> ''
        or old.next_action is null and new.next_action is not null)
      execute function wait_for_token_lock()`)
  })

  const killWhileShared = async (payer: Payer, path: string, key = path): Promise<string> => {
    const url = merchant.sells(path, offers)
    const release = await api.hold('select pg_advisory_xact_lock($1)', [TOKEN_LOCK])
    await api.killDuring(
      () => pay(payer, url, key),
      () => api.isWaiting(),
    )
    await api.endWaiting()
    await release()
    return url
  }

  const tokenOf = async ({ owner, cardId }: Payer) =>
    (await bodyOf(owner().agentCredentials.list({ query: { cardId } }))).data[0]

  test('has sent nothing: the repetition gets the same token, and pays once', async () => {
    const payer = await aPayer()
    const before = await money(payer)
    const url = await killWhileShared(payer, '/shared')
    expect(await credentials(payer)).toMatchObject([{ status: 'minted', sentAt: null, credentialDigest: '' }])
    await lapseLease()
    expect(merchant.payments('/shared')).toEqual([])
    expect(await money(payer)).toEqual(before)
    expect(await pay(payer, url, '/shared')).toMatchObject({ status: 200 })
    expect(merchant.payments('/shared')).toHaveLength(1)
    expect(await credentials(payer)).toMatchObject([{ status: 'consumed' }])
    await expectVerifiedLedger(payer.owner())
  })

  test('has sent nothing: the payment goes on without the caller, and pays once', async () => {
    const payer = await aPayer()
    const before = await money(payer)
    await killWhileShared(payer, '/shared-alone')
    await lapseLease()
    await advance(payer, { minutes: 5 })
    expect(await credentials(payer)).toMatchObject([{ status: 'consumed', outcomeBy: 'merchant' }])
    expect(merchant.payments('/shared-alone')).toHaveLength(1)
    expect(await money(payer)).toEqual({ ...before, heldEuros: 0 })
    await expectVerifiedLedger(payer.owner())
  })

  test('that a person must confirm has sent nothing: the deadline revokes the token', async () => {
    const payer = await aPayer('Sandbox asks')
    const before = await money(payer)
    const url = await killWhileShared(payer, '/asks')
    expect(await credentials(payer)).toMatchObject([{ status: 'minted', nextAction: null }])
    await lapseLease()
    expect(await pay(payer, url, '/asks')).toMatchObject({ status: 409, code: 'action_required' })
    await advance(payer, { minutes: 5 })
    expect(await credentials(payer)).toMatchObject([{ status: 'void', sentAt: null, outcomeBy: 'deadline' }])
    expect(await tokenOf(payer)).toMatchObject({ status: 'revoked', processorProblem: null })
    expect(merchant.payments('/asks')).toEqual([])
    expect(await money(payer)).toEqual(before)
    await expectVerifiedLedger(payer.owner())
  })

  test('that a person has confirmed has sent nothing: the repetition pays once', async () => {
    const payer = await aPayer('Sandbox asks')
    const before = await money(payer)
    const url = merchant.sells('/confirmed', offers)
    expect(await pay(payer, url, '/confirmed')).toMatchObject({ status: 409, code: 'action_required' })
    await advance(payer, { minutes: 2 })
    await killWhileShared(payer, '/confirmed', '/confirmed-killed')
    expect(await credentials(payer)).toMatchObject([{ status: 'minted', sentAt: null, credentialDigest: '' }])
    await lapseLease()
    expect(await pay(payer, url, '/confirmed-killed')).toMatchObject({ status: 200 })
    expect(merchant.payments('/confirmed')).toHaveLength(1)
    expect(await credentials(payer)).toMatchObject([{ status: 'consumed', nextAction: null }])
    expect(await money(payer)).toEqual({ ...before, heldEuros: 0 })
    await expectVerifiedLedger(payer.owner())
  })

  test('once the token has left, leaves the outcome open, and nothing is sent again', async () => {
    const payer = await aPayer()
    const before = await money(payer)
    const url = merchant.sells('/shared-sent', offers, never)
    await api.killDuring(
      () => pay(payer, url, '/shared-sent'),
      () => merchant.payments('/shared-sent').length > 0,
    )
    await lapseLease()
    expect(await pay(payer, url, '/shared-sent')).toMatchObject({ code: 'payment_indeterminate' })
    expect(merchant.payments('/shared-sent')).toHaveLength(1)
    expect(await credentials(payer)).toMatchObject([{ status: 'indeterminate' }])
    expect(await money(payer)).toEqual(before)
    const { id = '' } = (await credentials(payer))[0] ?? {}
    await bodyOf(payer.owner().mpp.resolve({ params: { id }, body: { outcome: 'not_paid' } }))
    await advance(payer, { minutes: 1 })
    expect(await tokenOf(payer)).toMatchObject({ status: 'revoked', processorProblem: null })
  })
})

import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { onlySignal } from '../../support/control/risk.ts'
import {
  aBeneficiary,
  anAgentUnder,
  anIntent,
  aSepaTransfer,
  aWallet,
  bodyOf,
} from '../../support/factories.ts'
import { http, startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const elsewhere = await service.another()

/** The banks do not know the payees: transfers to them wait for a confirmation. */
async function someone() {
  const owner = await service.owner()
  const { client } = owner
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 2_000 })
  const { id: beneficiaryId } = await aBeneficiary(client, { name: 'No Match GmbH' })
  const get = (id: string) => bodyOf(client.transfers.get({ params: { id } }))
  return {
    ...owner,
    agent,
    params: { id: agent.id },
    get,
    woken: (id: string) => service.sql(`select 1 from outbox where input ->> 'id' = $1`, [id]),
    /** Waits until the verification of payee was requested. */
    async waiting(make: () => Promise<{ id: string }>) {
      const { id } = await make()
      await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
      expect(await get(id)).toMatchObject({ status: 'verifying', payeeCheck: { result: 'no_match' } })
      return id
    },
    onIntent: async (amountEuros = 20) => {
      const { id: intentId } = await anIntent(client, agent.id, { amountEuros, beneficiaryId })
      const body = { fromWalletId: agent.walletId, beneficiaryId, intentId, amountEuros }
      return bodyOf(client.transfers.create({ body }))
    },
    fromWallet: (fromWalletId: string, amountEuros = 20) =>
      aSepaTransfer(client, { fromWalletId, beneficiaryId, amountEuros }),
    usedToday: async () => {
      const { usedEuros } = await bodyOf(client.transfers.limits())
      return usedEuros
    },
    sound: async () => expect(await bodyOf(client.ledger.verify())).toMatchObject({ ok: true, problems: [] }),
  }
}

describe('a transfer that waits for its payee', () => {
  test('is cancelled in the transaction that freezes its wallet, and frees all that it held', async () => {
    const { client, waiting, fromWallet, get, woken, usedToday, sound } = await someone()
    const wallet = await aWallet(client, 50)
    const id = await waiting(() => fromWallet(wallet.id))
    expect(await usedToday()).toBe(20)
    const before = (await woken(id)).length
    const answer = await client.wallets.update({ params: { id: wallet.id }, body: { status: 'frozen' } })
    expect(await get(id)).toMatchObject({ status: 'cancelled', reason: { code: 'wallet_frozen' } })
    expect(await bodyOf(client.wallets.get({ params: { id: wallet.id } }))).toMatchObject({
      status: 'frozen',
      heldEuros: 0,
      availableEuros: 50,
    })
    expect(await usedToday()).toBe(0)
    expect(await woken(id)).toHaveLength(before + 1)
    const events = await service.sql('select event from events where request_id = $1 order by id', [
      answer.headers.get('x-request-id'),
    ])
    expect(events.map(({ event }) => event)).toEqual(['wallet.updated', 'transfer.failed'])
    expect((await client.transfers.confirmPayee({ params: { id } })).code).toBe('payee_not_waiting')
    await sound()
  })

  test('is cancelled when the agent of its intent is frozen; an owner’s own transfers are not', async () => {
    const { client, agent, params, waiting, onIntent, fromWallet, get, sound } = await someone()
    const own = await waiting(() => fromWallet(agent.walletId, 30))
    const id = await waiting(onIntent)
    await bodyOf(client.agents.freeze({ params, body: { reason: 'Unusual' } }))
    const stopped = await get(id)
    expect(stopped).toMatchObject({ status: 'cancelled', reason: { code: 'agent_not_active' } })
    expect((await get(own)).status).toBe('verifying')
    const intent = await bodyOf(client.intents.get({ params: { id: String(stopped.intentId) } }))
    expect(intent.status).toBe('approved')
    expect((await bodyOf(client.agents.balance({ params }))).heldEuros).toBe(50)
    expect((await bodyOf(client.intents.cancel({ params: { id: intent.id } }))).status).toBe('cancelled')
    expect((await bodyOf(client.agents.balance({ params }))).heldEuros).toBe(30)
    await sound()
  })

  test('is cancelled by the same request that makes risk freeze its agent', async () => {
    const { client, agent, waiting, onIntent, get, sound } = await someone()
    const id = await waiting(onIntent)
    await bodyOf(client.risk.configure({ body: onlySignal('newMerchant', 95) }))
    const body = { agentId: agent.id, amountEuros: 5, merchant: 'Somebody new', purpose: 'A test' }
    const answer = await client.intents.create({ body })
    expect(answer.body.status).toBe('denied')
    expect(await get(id)).toMatchObject({ status: 'cancelled', reason: { code: 'agent_not_active' } })
    const events = await service.sql<{ event: string; action: string }>(
      'select event, action from events where request_id = $1 and resource_id = $2',
      [answer.headers.get('x-request-id'), id],
    )
    expect(events).toEqual([{ event: 'transfer.failed', action: 'intents.create' }])
    await sound()
  })

  test('is cancelled when the delegation of its intent is revoked', async () => {
    const { client, agent, waiting, get, sound } = await someone()
    const { id: beneficiaryId } = await aBeneficiary(client, { name: 'No Match GmbH' })
    const delegation = await bodyOf(
      client.delegations.create({ body: { agentId: agent.id, maxAmountEuros: 50, expiresInMinutes: 600 } }),
    )
    const { token } = await bodyOf(client.delegations.redeem({ body: { code: String(delegation.code) } }))
    const intent = await anIntent(service.client(String(token)), agent.id, { amountEuros: 9, beneficiaryId })
    const id = await waiting(() =>
      bodyOf(
        client.transfers.create({
          body: { fromWalletId: agent.walletId, beneficiaryId, amountEuros: 9, intentId: intent.id },
        }),
      ),
    )
    await bodyOf(client.delegations.revoke({ params: { id: delegation.id } }))
    expect(await get(id)).toMatchObject({ status: 'cancelled', reason: { code: 'delegation_revoked' } })
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect((await bodyOf(client.intents.get({ params: { id: intent.id } }))).status).toBe('expired')
    expect((await bodyOf(client.agents.balance({ params: { id: agent.id } }))).heldEuros).toBe(0)
    await sound()
  })

  test('is cancelled when its owner is suspended; other owners’ transfers are not', async () => {
    const [first, second] = [await someone(), await someone()]
    const wallets = [await aWallet(first.client, 50), await aWallet(second.client, 50)] as const
    const id = await first.waiting(() => first.fromWallet(wallets[0].id))
    const theirs = await second.waiting(() => second.fromWallet(wallets[1].id))
    const params = { id: first.ownerId }
    await bodyOf(service.dash.customers.update({ params, body: { status: 'suspended' } }))
    await bodyOf(service.dash.customers.update({ params, body: { status: 'active' } }))
    expect((await second.get(theirs)).status).toBe('verifying')
    const [row] = await service.sql('select status, reason from transfers where id = $1', [id])
    expect(row).toMatchObject({ status: 'cancelled', reason: { code: 'customer_suspended' } })
  })

  test('is cancelled at a suspension while others are being made: no request waits, and nothing stays held', async () => {
    const { client, key, ownerId, waiting, fromWallet, sound } = await someone()
    const wallet = await aWallet(client, 500)
    const { beneficiaryId } = await bodyOf(
      client.transfers.get({ params: { id: await waiting(() => fromWallet(wallet.id)) } }),
    )
    const body = { fromWalletId: wallet.id, beneficiaryId, amountEuros: 5 }
    const pay = (n: number) =>
      http(n % 2 ? service.url : elsewhere, 'POST', '/transfers', { token: key, body })
    const params = { id: ownerId }
    const [suspended, ...answers] = await Promise.all([
      service.dash.customers.update({ params, body: { status: 'suspended' } }),
      ...Array.from({ length: 16 }, (_, n) => pay(n)),
    ])
    expect(suspended.status).toBe(200)
    for (const { status } of answers) expect([201, 403]).toContain(status)
    await bodyOf(service.dash.customers.update({ params, body: { status: 'active' } }))
    const [open] = await service.sql<{ euros: number }>(
      `select coalesce(sum(amount_cents), 0)::int / 100 as euros from transfers
      where from_wallet_id = $1 and status <> 'cancelled'`,
      [wallet.id],
    )
    const { heldEuros } = await bodyOf(client.wallets.get({ params: { id: wallet.id } }))
    expect(heldEuros).toBe(open?.euros)
    await sound()
  })

  test('delays a suspension no longer than its own creation takes', async () => {
    const { ownerId } = await someone()
    const maker = new pg.Client({ connectionString: service.databaseUrl })
    await maker.connect()
    await maker.query('begin')
    // The lock that the foreign key of a new record takes.
    await maker.query('select from customers where id = $1 for key share', [ownerId])
    const change = { params: { id: ownerId }, body: { status: 'suspended' } } as const
    expect((await bodyOf(service.dash.customers.update(change))).status).toBe('suspended')
    await maker.end()
  })

  test('is cancelled even if many are confirmed and made at the moment of the freezing', async () => {
    const { client, key, agent, params, waiting, onIntent, fromWallet, get, sound } = await someone()
    const wallet = await aWallet(client, 200)
    const ids = []
    for (let n = 0; n < 3; n++)
      ids.push(await waiting(() => onIntent(10 + n)), await waiting(() => fromWallet(wallet.id, 10 + n)))
    const confirm = (id: string, n: number) =>
      n % 2
        ? client.transfers.confirmPayee({ params: { id } })
        : fetch(`${elsewhere}/transfers/${id}/confirm-payee`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}` },
          })
    const [frozen, closed, , late] = await Promise.all([
      client.agents.freeze({ params }),
      client.wallets.update({ params: { id: wallet.id }, body: { status: 'frozen' } }),
      Promise.all(ids.map(confirm)),
      Promise.allSettled([fromWallet(wallet.id, 5), onIntent(5), fromWallet(wallet.id, 6)]),
    ])
    expect([frozen.status, closed.status]).toEqual([200, 200])
    const both = late.flatMap(result => (result.status === 'fulfilled' ? [result.value.id] : []))
    const ends = await Promise.all([...ids, ...both].map(get))
    expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(['cancelled']))
    expect((await bodyOf(client.wallets.get({ params: { id: wallet.id } }))).heldEuros).toBe(0)
    expect((await bodyOf(client.wallets.get({ params: { id: agent.walletId } }))).status).toBe('active')
    await sound()
  })
})

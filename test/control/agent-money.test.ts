import { describe, expect, test } from '@jest/globals'
import { times } from '../support/at-once.ts'
import { anAgent, aToken, aWallet, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const service = await startTestService()

async function someone() {
  const { client } = await service.owner()
  return { client, main: await aWallet(client, 100), agent: await anAgent(client) }
}

const fund = (client: TestClient, id: string, body: { amountEuros: number; fromWalletId?: string }) =>
  client.agents.fund({ params: { id }, body })
const balanceOf = async (client: TestClient, id: string) =>
  (await bodyOf(client.wallets.get({ params: { id } }))).availableEuros
const finishDeletion = (client: TestClient) => bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))

describe('an agent’s wallet', () => {
  test('is opened with the agent, and the agent can read it', async () => {
    const { client, agent, main } = await someone()
    const wallet = await bodyOf(client.wallets.get({ params: { id: agent.walletId } }))
    expect(wallet).toMatchObject({ kind: 'agent', agentId: agent.id, name: agent.name, availableEuros: 0 })
    const tokenClient = service.client(String((await aToken(client, agent.id)).token))
    expect((await bodyOf(tokenClient.wallets.list({}))).data.map(({ id }) => id)).toEqual([agent.walletId])
    expect((await tokenClient.wallets.get({ params: { id: main.id } })).status).toBe(404)
    expect(await bodyOf(tokenClient.agents.balance({ params: { id: agent.id } }))).toEqual({
      agentId: agent.id,
      walletId: agent.walletId,
      availableEuros: 0,
      heldEuros: 0,
    })
    expect((await fund(tokenClient, agent.id, { amountEuros: 1 })).status).toBe(403)
  })

  test('is funded from the only wallet, and from the named one where there are several', async () => {
    const { client, agent, main } = await someone()
    expect(await bodyOf(fund(client, agent.id, { amountEuros: 20.5 }))).toMatchObject({
      availableEuros: 20.5,
    })
    const second = await aWallet(client, 5)
    const unnamed = await fund(client, agent.id, { amountEuros: 1 })
    expect([unnamed.status, unnamed.code]).toEqual([400, 'wallet_needed'])
    expect([await balanceOf(client, main.id), await balanceOf(client, second.id)]).toEqual([79.5, 5])
    await bodyOf(fund(client, agent.id, { amountEuros: 5, fromWalletId: second.id }))
    expect([await balanceOf(client, main.id), await balanceOf(client, second.id)]).toEqual([79.5, 0])
    const { data } = await bodyOf(client.events.list({ query: { event: 'agent.funded' } }))
    expect(data[0]?.data).toMatchObject({ agentId: agent.id, fromWalletId: second.id, balanceEuros: 25.5 })
    await bodyOf(client.wallets.close({ params: { id: second.id } }))
    expect((await fund(client, agent.id, { amountEuros: 1 })).status).toBe(200)
    await expectVerifiedLedger(client)
  })

  test('is not funded with more than there is, from a frozen wallet, from a stranger’s or from itself', async () => {
    const { client, agent, main } = await someone()
    const frozen = await aWallet(client, 5)
    await bodyOf(client.wallets.update({ params: { id: frozen.id }, body: { status: 'frozen' } }))
    const stranger = await someone()
    const from = (fromWalletId: string, amountEuros = 1) =>
      fund(client, agent.id, { amountEuros, fromWalletId })
    const answers = [from(main.id, 100.01), from(frozen.id), from(stranger.main.id), from(agent.walletId)]
    expect((await Promise.all(answers)).map(({ code }) => code)).toEqual([
      'insufficient_funds',
      'wallet_not_active',
      'wallet_not_found',
      'same_wallet',
    ])
    expect((await fund(stranger.client, agent.id, { amountEuros: 1 })).status).toBe(404)
    expect(await balanceOf(client, main.id)).toBe(100)
  })

  test('cannot be funded if the owner has no wallet, and the refusal says so', async () => {
    const { client } = await service.owner()
    const { id } = await anAgent(client)
    const { status, code } = await fund(client, id, { amountEuros: 1 })
    expect([status, code]).toEqual([400, 'no_wallet'])
  })

  test('is closed when the agent is deleted, and its money goes back to the owner', async () => {
    const { client, agent, main } = await someone()
    await bodyOf(fund(client, agent.id, { amountEuros: 30 }))
    expect((await client.wallets.close({ params: { id: agent.walletId } })).code).toBe('wallet_of_agent')
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    expect((await fund(client, agent.id, { amountEuros: 1 })).status).toBe(404)
    await finishDeletion(client)
    expect(await balanceOf(client, main.id)).toBe(100)
    const wallet = await bodyOf(client.wallets.get({ params: { id: agent.walletId } }))
    expect([wallet.status, wallet.availableEuros]).toEqual(['closed', 0])
    const { data } = await bodyOf(client.events.list({ query: { event: 'wallet.credited' } }))
    expect(data[0]?.data).toMatchObject({ walletId: main.id, amountEuros: 30, balanceEuros: 100 })
    await expectVerifiedLedger(client)
  })

  test('leaves its money in a new wallet if the owner has closed all others', async () => {
    const { client, agent, main } = await someone()
    await bodyOf(fund(client, agent.id, { amountEuros: 100 }))
    await bodyOf(client.wallets.close({ params: { id: main.id } }))
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    await finishDeletion(client)
    const { data } = await bodyOf(client.wallets.list({ query: {} }))
    expect(data.map(({ name, availableEuros }) => [name, availableEuros])).toEqual([['Main', 100]])
  })

  test('keeps nothing when it is funded and deleted at the same time', async () => {
    const { client, agent, main } = await someone()
    const funding = times(10, () => fund(client, agent.id, { amountEuros: 1 }))
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    for (const { status } of await funding) expect([200, 404]).toContain(status)
    await finishDeletion(client)
    expect([await balanceOf(client, agent.walletId), await balanceOf(client, main.id)]).toEqual([0, 100])
  })
})

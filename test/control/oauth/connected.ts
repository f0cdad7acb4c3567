import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import type { Scope } from '../../../src/kernel/contract/scopes.ts'
import { clientAt } from '../../support/client.ts'
import {
  anAuthorization,
  approvedCode,
  aRegisteredClient,
  CALLBACK,
  connect,
  consentTo,
  post,
} from '../../support/control/assistants.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { anAssistant } from '../../support/http/assistant.ts'
import { assertion, enrolled } from '../../support/identity/people.ts'
import { until } from '../../support/until.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import {
  aConnection,
  anOwnerAtTheBrowser,
  listTools,
  mcp,
  service,
  signedChoices,
  url,
  withoutBudget,
} from './people.ts'

const WAITING = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`

/** An assistant with a mandate of 25 euros a payment, and 100 a month. */
async function aConnectedAssistant() {
  const owner = await anOwnerAtTheBrowser()
  const code = await approvedCode(owner.person, signedChoices(owner))
  const tokens = await connect(url, code)
  const { call } = await anAssistant(url, tokens.access_token)
  const { id: shopId } = await bodyOf(owner.client.wallets.create({ body: { name: 'Shop' } }))
  const { walletId: fromWalletId } = await bodyOf(owner.client.agents.get({ params: { id: owner.agentId } }))
  const declare = async (amountEuros: number): Promise<string> => {
    const given = { amountEuros, walletId: shopId, purpose: 'A book' }
    return (await call('declare_intent', given)).structuredContent.id
  }
  const pay = (intentId: string, amountEuros: number) =>
    owner.client.transfers.create({ body: { fromWalletId, toWalletId: shopId, amountEuros, intentId } })
  return { owner, tokens, params: { id: code.id }, declare, pay }
}

type Connected = Awaited<ReturnType<typeof aConnectedAssistant>>

const statusOf = async ({ owner }: Pick<Connected, 'owner'>, id: string) =>
  (await bodyOf(owner.client.intents.get({ params: { id } }))).status

const heldOf = async ({ client, agentId }: { readonly client: TestClient; readonly agentId: string }) =>
  (await bodyOf(client.agents.balance({ params: { id: agentId } }))).heldEuros

const isRefused = (token: string) =>
  until('the token is refused', async () => (await listTools(token)).status === 401)

describe('the signature', () => {
  test('names the assistant, where its answers go and its tools, and the proof shows them', async () => {
    const owner = await anOwnerAtTheBrowser()
    const sign = signedChoices(owner)
    const { ticket } = await consentTo(owner.person, await anAuthorization(url))
    await sign(ticket)
    const rows = await service.sql<{ statement: object }>(
      'select statement from passkey_challenges where owner_id = $1 order by id desc limit 1',
      [owner.ownerId],
    )
    const assistant = {
      name: 'Claude',
      host: null,
      redirectsTo: 'assistant.example.com',
      tools: ['payer'],
    }
    expect(rows[0]?.statement).toMatchObject({ kind: 'mandate', subject: { assistant } })
    await approvedCode(owner.person, sign)
    const { data } = await bodyOf(owner.client.mandates.list({}))
    const [, payload = ''] = String(data[0]?.jws).split('.')
    const { statement } = JSON.parse(Buffer.from(payload, 'base64url').toString())
    expect(statement.subject.assistant).toEqual(assistant)
  })

  test('for another client, or for other tools, connects nothing', async () => {
    const owner = await anOwnerAtTheBrowser()
    const sign = signedChoices(owner)
    const { ticket } = await consentTo(owner.person, await anAuthorization(url))
    const choices = await sign(ticket)
    const members = { client_name: 'Another', redirect_uris: [CALLBACK] }
    const client_id = await aRegisteredClient(url, members)
    const other = await anAuthorization(url, { client_id })
    await expect(approvedCode(owner.person, choices, other)).rejects.toThrow('does not match this request')
    const again = await sign(ticket)
    const body = { ticket, scopes: ['reader'], ...again }
    const refused = await post(url, '/oauth/approve', body, owner.person.headers)
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('statement'),
    ])
  })
})

describe('a connected assistant', () => {
  test('is shown with client, budget, what is left and what it bought', async () => {
    const { owner, params, declare, pay } = await aConnectedAssistant()
    const intentId = await declare(20)
    const held = await bodyOf(owner.client.connectedAssistants.get({ params }))
    expect(held).toMatchObject({
      status: 'connected',
      agentId: owner.agentId,
      personId: owner.signer.personId,
      clientName: 'Claude',
      clientHost: null,
      redirectUri: 'https://assistant.example.com/callback',
      mandate: { status: 'active', constraints: { perTransactionEuros: 25 }, monthLeftEuros: 80 },
      heldEuros: 20,
      spentEuros: 0,
      lastUsedAt: expect.any(String),
      endedAt: null,
    })
    await bodyOf(pay(intentId, 20))
    const paid = await bodyOf(owner.client.connectedAssistants.get({ params }))
    expect(paid).toMatchObject({ heldEuros: 0, spentEuros: 20, mandate: { monthLeftEuros: 80 } })
    const { data } = await bodyOf(owner.client.intents.list({ query: { tokenId: String(paid.tokenId) } }))
    expect(data.map(({ id }) => id)).toEqual([intentId])
  })

  test('shows its mandate to keys that may read mandates', async () => {
    const { owner, params } = await aConnectedAssistant()
    const reading = async (scopes: Scope[]) => {
      const { key } = await bodyOf(
        owner.client.keys.create({ body: { name: 'Reader', environment: 'test', scopes } }),
      )
      return bodyOf(clientAt({ url, token: String(key) }).connectedAssistants.get({ params }))
    }
    expect((await reading(['tokens:read'])).mandate).toBeNull()
    expect((await reading(['tokens:read', 'mandates:read'])).mandate).toMatchObject({ status: 'active' })
  })

  test('declares nothing once it is disconnected, also while its token is still trusted', async () => {
    const connected = await aConnectedAssistant()
    const { owner, params, declare } = connected
    const locker = new pg.Client({ connectionString: service.databaseUrl })
    await locker.connect()
    await locker.query('begin')
    await locker.query('select from agents where id = $1 for update', [owner.agentId])
    const waiting = (count: number) =>
      until(`${count} requests wait for the agent`, async () => (await service.sql(WAITING)).length >= count)
    // The lock is granted in the order of requests: both pass the check of the token before it ends.
    const ending = owner.client.connectedAssistants.disconnect({ params })
    await waiting(1)
    const declaring = declare(30)
    await waiting(2)
    await locker.end()
    expect((await ending).status).toBe(200)
    expect(await declaring).toBeUndefined()
    const { data } = await bodyOf(owner.client.intents.list({ query: { agentId: owner.agentId } }))
    expect(data).toEqual([])
  })

  test('is in the list of its account only', async () => {
    const { owner, params } = await aConnectedAssistant()
    const listed = await bodyOf(owner.client.connectedAssistants.list({ query: { status: 'connected' } }))
    expect(listed.data.map(({ id }) => id)).toEqual([params.id])
    const stranger = await service.owner()
    expect((await stranger.client.connectedAssistants.get({ params })).status).toBe(404)
    expect((await stranger.client.connectedAssistants.disconnect({ params })).status).toBe(404)
  })

  test('that is disconnected loses tokens, mandate and open intents', async () => {
    const connected = await aConnectedAssistant()
    const { owner, tokens, params, declare } = connected
    const ids = [await declare(20), await declare(30)]
    expect(await heldOf(owner)).toBe(20)
    const ended = await bodyOf(owner.client.connectedAssistants.disconnect({ params }))
    expect(ended).toMatchObject({
      status: 'ended',
      endedBecause: 'disconnected',
      heldEuros: 0,
      mandate: { status: 'revoked', monthLeftEuros: 0 },
    })
    await isRefused(tokens.access_token)
    for (const id of ids) expect(await statusOf(connected, id)).toBe('cancelled')
    expect(await heldOf(owner)).toBe(0)
    const { data } = await bodyOf(owner.client.events.list({ query: { event: 'assistant.disconnected' } }))
    expect(data[0]?.data).toMatchObject({
      assistantId: params.id,
      endedBecause: 'disconnected',
      clientHost: null,
      scopes: expect.arrayContaining(['intents:write']),
    })
    await expectVerifiedLedger(owner.client)
  })

  test('is disconnected once, by however many at a time', async () => {
    const { owner, params } = await aConnectedAssistant()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => owner.client.connectedAssistants.disconnect({ params })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400, 400, 400])
  })

  test('that is disconnected while it pays has either paid or was cancelled', async () => {
    const connected = await aConnectedAssistant()
    const { owner, params, declare, pay } = connected
    const amounts = [5, 6, 7]
    const intentIds = await Promise.all(amounts.map(declare))
    const [first, ...others] = await Promise.all([
      owner.client.connectedAssistants.disconnect({ params }),
      ...intentIds.map((id, n) => pay(id, Number(amounts[n]))),
    ])
    expect(first.status).toBe(200)
    const statuses = await Promise.all(intentIds.map(id => statusOf(connected, id)))
    expect(statuses).toEqual(others.map(({ status }) => (status === 201 ? 'completed' : 'cancelled')))
    expect(await heldOf(owner)).toBe(0)
    await expectVerifiedLedger(owner.client)
  })

  test('ends with the role of the owner who connected it', async () => {
    const owner = await anOwnerAtTheBrowser()
    const other = await enrolled(service, owner, { by: owner.signer })
    const { tokens, id } = await aConnection(owner)
    const { personId } = owner.signer
    const update = (body: object) => bodyOf(owner.client.people.update({ params: { id: personId }, body }))
    await update({ name: 'Ada' })
    expect((await listTools(tokens.access_token)).status).toBe(200)
    const subject = { personId, role: 'approver' }
    const webauthnAssertion = await assertion(owner.client, other, { purpose: 'invitation', subject })
    await update({ role: 'approver', webauthnAssertion })
    await isRefused(tokens.access_token)
    const { endedBecause } = await bodyOf(owner.client.connectedAssistants.get({ params: { id } }))
    expect(endedBecause).toBe('person_demoted')
  })
})

describe('an assistant that needs more', () => {
  const declare = {
    name: 'declare_intent',
    arguments: { amountEuros: 5, merchant: 'Shop', purpose: 'A book' },
  }
  const call = (token: string, tool: object) => mcp(token, 'tools/call', tool)

  test('is told the scope, asks again, and the person sees only what is new', async () => {
    const owner = await anOwnerAtTheBrowser()
    const client_id = await aRegisteredClient(url)
    const reader = { ...withoutBudget(owner), scopes: ['reader'] }
    const first = await approvedCode(owner.person, reader, await anAuthorization(url, { client_id }))
    const { access_token } = await connect(url, first)
    const refused = await call(access_token, declare)
    expect(refused.status).toBe(403)
    const challenge = String(refused.headers.get('www-authenticate'))
    expect(challenge).toContain('error="insufficient_scope"')
    expect(challenge).toContain('resource_metadata="')
    const scope = /scope="([^"]+)"/.exec(challenge)?.[1]
    const more = await anAuthorization(url, { client_id, scope })
    const { text } = await consentTo(owner.person, more)
    expect(text).toContain('Claude already reads as the agent')
    expect(text).toContain(`name="agentId" value="${owner.agentId}"`)
    expect(text).not.toContain('<select id="agent"')
    const second = await connect(url, await approvedCode(owner.person, signedChoices(owner), more))
    expect((await call(second.access_token, declare)).status).toBe(200)
    // The client may read with it on another device.
    expect((await listTools(access_token)).status).toBe(200)
  })

  test('sees the tools that a person can grant, and reads with those it has', async () => {
    const owner = await anOwnerAtTheBrowser()
    const code = await approvedCode(owner.person, { ...withoutBudget(owner), scopes: ['reader'] })
    const { access_token } = await connect(url, code)
    const { tools } = await anAssistant(url, access_token)
    expect((await tools()).map(({ name }) => name)).toContain('declare_intent')
    expect((await call(access_token, { name: 'list_intents', arguments: {} })).status).toBe(200)
  })

  test('is another matter for an agent’s own token: it is refused as before', async () => {
    const owner = await anOwnerAtTheBrowser()
    const params = { id: owner.agentId }
    const body = { label: 'Own', scopes: ['reader' as const] }
    const { token } = await bodyOf(owner.client.agentTokens.create({ params, body }))
    expect((await call(String(token), declare)).headers.get('www-authenticate')).toBeNull()
  })
})

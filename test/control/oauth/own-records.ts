import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { aCard } from '../../support/cards/cards.ts'
import { demand, sell, startMerchant } from '../../support/commerce/merchant.ts'
import { approvedCode, connect } from '../../support/control/assistants.ts'
import { anIntent, aRun, aToken, aWallet, bodyOf, type TestClient } from '../../support/factories.ts'
import { anAssistant, type ToolResult } from '../../support/http/assistant.ts'
import { aHost } from '../../support/http/tasks.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import {
  aConnection,
  anOwnerAtTheBrowser,
  type OwnerAtTheBrowser,
  service,
  signedChoices,
  url,
} from './people.ts'

const AMOUNT = 5
const merchant = await startMerchant()
const soldAt = merchant.sells('/report', demand({ amount: String(AMOUNT * 100) }), sell({ report: 42 }))

/** The agent’s policy approves what its own tokens and keys declare, up to this amount. */
const anOwner = (autoApproveLimitEuros = 1_000) => anOwnerAtTheBrowser({ autoApproveLimitEuros })

async function connectedTo(owner: OwnerAtTheBrowser) {
  const code = await approvedCode(owner.person, signedChoices(owner))
  return anAssistant(url, (await connect(url, code)).access_token)
}

type Assistant = Awaited<ReturnType<typeof connectedTo>>
type Payee = { readonly walletId: string } | { readonly merchant: string }
type Declare = (payee: Payee) => Promise<string>

const byAssistant =
  ({ call }: Assistant): Declare =>
  async payee => {
    const given = { ...payee, amountEuros: AMOUNT, purpose: 'A report' }
    return (await call('declare_intent', given)).structuredContent.id
  }

const byClient =
  (client: TestClient, agentId: string): Declare =>
  async payee =>
    (await anIntent(client, agentId, { ...payee, amountEuros: AMOUNT })).id

async function byToken(owner: OwnerAtTheBrowser, members: object): Promise<Declare> {
  const { token } = await aToken(owner.client, owner.agentId, { scopes: ['payer'], ...members })
  return byClient(service.client(String(token)), owner.agentId)
}

/** Above the limit of the policy, each waits for a person. */
const approvedByPerson =
  ({ client, agentId }: OwnerAtTheBrowser): Declare =>
  async payee => {
    const { id } = await anIntent(client, agentId, { ...payee, amountEuros: AMOUNT })
    await bodyOf(client.intents.approve({ params: { id }, body: {} }))
    return id
  }

const declarers: readonly [string, (owner: OwnerAtTheBrowser) => Promise<Declare> | Declare, number?][] = [
  ['a key', ({ client, agentId }) => byClient(client, agentId)],
  ['the agent’s own token', owner => byToken(owner, {})],
  ['a token with a budget', owner => byToken(owner, { maxAmountEuros: 100 })],
  ['another assistant', async owner => byAssistant(await connectedTo(owner))],
  ['a key, and that a person approved', approvedByPerson, 1],
]

/** The intents of one declarer, by the payee that a tool needs. */
async function intentsOf(declare: Declare, toWalletId: string) {
  const wallet = await declare({ walletId: toWalletId })
  const shop = await declare({ merchant: 'shop.example.com' })
  return { wallet, shop, paid402: await declare({ merchant: '127.0.0.1' }) }
}

type Intents = Awaited<ReturnType<typeof intentsOf>>

interface Wallets {
  readonly fromWalletId: string
  readonly toWalletId: string
}

type Uses = Readonly<Record<string, (intents: Intents, wallets: Wallets) => Record<string, unknown>>>

const paying: Uses = {
  create_transfer: ({ wallet: intentId }, wallets) => ({ ...wallets, intentId, amountEuros: AMOUNT }),
  pay_intent: ({ wallet: intentId }) => ({ intentId }),
  begin_checkout: ({ shop: intentId }) => ({ intentId, merchantUrl: 'https://shop.example.com/pay' }),
  pay_http_402: ({ paid402: intentId }) => ({ intentId, url: soldAt }),
}

const changing: Uses = {
  cancel_intent: ({ wallet: id }) => ({ id }),
  verify_payment: ({ wallet: id }) => ({ id, actualAmountEuros: AMOUNT, actualMerchant: 'Shop' }),
  add_evidence: ({ wallet: intentId }) => ({ intentId, type: 'confirmation', text: 'Thank you' }),
  report_outcome: ({ wallet: intentId }) => ({ intentId, success: true }),
}

const uses = { ...paying, ...changing }

const refusalIn = ({ isError, structuredContent }: ToolResult): string | undefined =>
  isError ? structuredContent.error.code : undefined

describe('the tools that name an intent', () => {
  test('are those that are tried here', async () => {
    const { tools } = await connectedTo(await anOwner())
    const naming = (await tools()).filter(
      ({ annotations, inputSchema: { properties = {} } }) =>
        annotations?.readOnlyHint === false && ['id', 'intentId'].some(name => name in properties),
    )
    expect(naming.map(({ name }) => name).sort()).toEqual([...Object.keys(uses), 'complete_run'].sort())
  })
})

describe.each(declarers)(
  'an assistant, with an approved intent that was declared by %s,',
  (_, declareBy, limit) => {
    let owner: OwnerAtTheBrowser
    let assistant: Assistant
    let intents: Intents
    let wallets: Wallets

    beforeAll(async () => {
      owner = await anOwner(limit)
      const { client, agentId } = owner
      const [{ walletId }, { id: toWalletId }] = await Promise.all([
        bodyOf(client.agents.get({ params: { id: agentId } })),
        aWallet(client, 0, { name: 'Shop' }),
        aCard(client, { agentId }),
      ])
      assistant = await connectedTo(owner)
      wallets = { fromWalletId: walletId, toWalletId }
      intents = await intentsOf(await declareBy(owner), toWalletId)
    })

    afterAll(() => expectVerifiedLedger(owner.client))

    test.each(Object.keys(uses))('is refused by %s', async tool => {
      const given = uses[tool]?.(intents, wallets)
      expect(refusalIn(await assistant.call(tool, given))).toBe('intent_other_token')
    })

    test('leaves it as it was, and can see it', async () => {
      const { client } = owner
      for (const id of Object.values(intents)) {
        expect(await bodyOf(client.intents.get({ params: { id } }))).toMatchObject({ status: 'approved' })
        expect((await assistant.call('wait_for_intent', { intentId: id })).structuredContent.id).toBe(id)
        expect((await bodyOf(client.evidence.list({ query: { intentId: id } }))).data).toEqual([])
        expect((await bodyOf(client.outcomes.list({ query: { intentId: id } }))).data).toEqual([])
      }
      expect(merchant.visits('/report')).toEqual([])
    })
  },
)

describe('an assistant with its own intent', () => {
  test.each(Object.keys(uses))('is served by %s', async tool => {
    const owner = await anOwner()
    const { client, agentId } = owner
    const { walletId: fromWalletId } = await bodyOf(client.agents.get({ params: { id: agentId } }))
    const { id: toWalletId } = await aWallet(client, 0, { name: 'Shop' })
    await aCard(client, { agentId })
    const assistant = await connectedTo(owner)
    const intents = await intentsOf(byAssistant(assistant), toWalletId)
    const given = uses[tool]?.(intents, { fromWalletId, toWalletId })
    // It gets the data of a card only where the card pays nothing but this intent.
    const ofCard = tool === 'begin_checkout' && {
      cardId: (await aCard(client, { agentId, usage: 'single', intentId: intents.shop })).id,
    }
    expect(refusalIn(await assistant.call(tool, { ...given, ...ofCard }))).toBeUndefined()
    await expectVerifiedLedger(client)
  })

  test('is paid by the agent’s own token, too: only assistants are bound', async () => {
    const owner = await anOwner()
    const { id: walletId } = await aWallet(owner.client, 0, { name: 'Shop' })
    const intentId = await byAssistant(await connectedTo(owner))({ walletId })
    const { token } = await aToken(owner.client, owner.agentId, { scopes: ['payer'] })
    const paid = await bodyOf(service.client(String(token)).checkout.execute({ body: { intentId } }))
    expect(paid.status).toBe('completed')
  })
})

describe('a run', () => {
  test('is completed by the assistant that has started it, and by no other', async () => {
    const owner = await anOwner()
    const { id: ofKey } = await aRun(owner.client, owner.agentId)
    const [assistant, other] = [await connectedTo(owner), await connectedTo(owner)]
    const { id } = (await assistant.call('start_run', { name: 'Its own' })).structuredContent
    expect(refusalIn(await other.call('complete_run', { id }))).toBe('run_not_found')
    expect(refusalIn(await assistant.call('complete_run', { id: ofKey }))).toBe('run_not_found')
    expect(refusalIn(await assistant.call('complete_run', { id }))).toBeUndefined()
    const { data } = await bodyOf(owner.client.runs.list({}))
    expect(data.map(({ status }) => status).sort()).toEqual(['completed', 'running'])
  })
})

describe('a task', () => {
  test('is there for the assistant that declared its intent, and for no other', async () => {
    const owner = await anOwner()
    const aTaskHost = async () => aHost(url, (await aConnection(owner)).tokens.access_token)
    const [host, other] = [await aTaskHost(), await aTaskHost()]
    const given = { merchant: 'Bookshop', amountEuros: AMOUNT, purpose: 'A report' }
    const { taskId } = await host.call('declare_intent', given)
    const refused = { code: -32_602, message: 'taskId: no such task.' }
    const answers = [await other.get(taskId), await other.cancel(taskId), await other.update(taskId, {})]
    expect(answers.map(({ error }) => error)).toEqual([refused, refused, refused])
    expect((await host.get(taskId)).result.status).toBe('working')
    await host.cancel(taskId)
    expect((await host.get(taskId)).result.status).toBe('cancelled')
  })
})

import './widening/linked-challenges.ts'
import { describe, expect, test } from '@jest/globals'
import { aCard } from '../support/cards/cards.ts'
import { aKeyPair } from '../support/cards/encryption-keys.ts'
import { jwkOf } from '../support/cards/reveal.ts'
import { aPaidRequest } from '../support/commerce/refunds.ts'
import { onlySignal } from '../support/control/risk.ts'
import {
  aBeneficiary,
  aDelegation,
  anAgent,
  anAgentUnder,
  anIntent,
  aPolicy,
  aRun,
  aSepaTransfer,
  aToken,
  aWallet,
  bodyOf,
  type TestClient,
} from '../support/factories.ts'
import { http, startTestService } from '../support/harness.ts'
import { Authenticator } from '../support/identity/authenticator.ts'
import { signedInTo } from '../support/identity/console.ts'
import { aPerson, assertion, enrol, linkedChallenge, originOf, signed } from '../support/identity/people.ts'

const service = await startTestService()

const standing = { autoApproveLimitEuros: 50, dailyLimitEuros: 100, allowedCountries: ['DE'] }

/** An owner with an agent, and an owner in the console, who has a passkey. */
async function anAccount() {
  const owner = await service.owner()
  const { id: personId } = await aPerson(service, owner, { role: 'owner' })
  const { headers, client: session } = await signedInTo(service, owner, { personId })
  const device = new Authenticator({ origin: originOf(service) })
  const enrolPasskey = () => enrol(owner.client, personId, device)
  const agent = await anAgentUnder(owner.client, standing)
  return { ...owner, personId, headers, session, device, enrolPasskey, agent }
}

type Account = Awaited<ReturnType<typeof anAccount>>
type Request = readonly [method: string, path: string, body?: object]

const send = ({ url }: { url: string }, by: object, [method, path, body]: Request) =>
  http(url, method, path, { ...by, body: body ?? {} })

const inConsole = ({ headers }: Account, request: Request) => send(service, { headers }, request)
const withKey = ({ key }: Account, request: Request) => send(service, { token: key }, request)

const challengeFor = async (account: Account, request: Request) =>
  linkedChallenge(account.session, await inConsole(account, request))

const told = ({ status, headers }: Awaited<ReturnType<typeof inConsole>>) =>
  `${status} ${headers.get('x-error-code') ?? ''}`.trim()

const signing = (
  [method, path, body]: Request,
  challenge: Parameters<typeof signed>[0],
  { device }: Account,
): Request => [method, path, { ...body, webauthnAssertion: signed(challenge, device) }]

/** What a change would be, and the state that it must leave as it is. */
interface Change {
  readonly request: Request
  readonly says: RegExp
  readonly read?: () => Promise<unknown>
}

const agentPolicy = (client: TestClient, id: string) =>
  bodyOf(client.policies.effective({ params: { agentId: id } }))

async function aCardFor({ client, agent }: Account, members: Parameters<typeof aCard>[1] = {}) {
  return aCard(client, { agentId: agent.id, usage: 'multi', ...members })
}

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

const changes: Readonly<Record<string, (account: Account) => Promise<Change>>> = {
  async 'a raised limit of a policy'({ client, agent }) {
    const read = () => agentPolicy(client, agent.id)
    const { id } = await read()
    const body = { name: 'Research budget', ...standing, autoApproveLimitEuros: 250 }
    const says = /agent “Research assistant” \(agent_\w+\): Auto-approve limit from € 50.00 to € 250.00\.$/
    return { request: ['PUT', `/policies/${id}`, body], says, read }
  },
  async 'a country that is allowed anew'({ client, agent }) {
    const read = () => agentPolicy(client, agent.id)
    const { id } = await read()
    const body = { name: 'Research budget', ...standing, allowedCountries: ['DE', 'FR'] }
    return {
      request: ['PUT', `/policies/${id}`, body],
      says: /Allowed countries from “DE” to also “FR”\.$/,
      read,
    }
  },
  async 'a template that allows more, which a key may assign later'({ client, agent }) {
    const { templateId: id } = await agentPolicy(client, agent.id)
    const read = () => bodyOf(client.policies.get({ params: { id: String(id) } }))
    const body = { name: 'Research budget', ...standing, dailyLimitEuros: 900 }
    const says = /template “Research budget” \(policy_\w+\): Daily limit from € 100.00 to € 900.00\.$/
    return { request: ['PUT', `/policies/${id}`, body], says, read }
  },
  async 'a changed template that is applied'({ client, agent }) {
    const read = () => agentPolicy(client, agent.id)
    const { templateId } = await read()
    const params = { id: String(templateId) }
    await bodyOf(
      client.policies.replace({ params, body: { name: 'Wide', ...standing, dailyLimitEuros: 900 } }),
    )
    const says = /“Research assistant” .*: Daily limit from € 100.00 to € 900.00\.$/
    return { request: ['POST', `/policies/${templateId}/apply`], says, read }
  },
  async 'another template for an agent'({ client, agent }) {
    const { id: policyId } = await aPolicy(client, { ...standing, autoApproveLimitEuros: 90 })
    const read = () => agentPolicy(client, agent.id)
    const says = /Auto-approve limit from € 50.00 to € 90.00/
    return { request: ['PUT', `/policies/agent/${agent.id}`, { policyId }], says, read }
  },
  async 'the first policy of an agent'({ client }) {
    const { id } = await anAgent(client, { name: 'Newcomer' })
    const read = () => bodyOf(client.agents.get({ params: { id } }))
    const says = /“Newcomer” .*Auto-approve limit from none to € 50.00/
    return { request: ['PUT', `/policies/agent/${id}`, { policyId: 'standard' }], says, read }
  },
  async 'a deputy of theirs'({ client, personId, ownerId }) {
    const { id: deputyId } = await aPerson(service, { ownerId }, { role: 'approver', name: 'Bob' })
    const read = () => bodyOf(client.deputies.list({ params: { id: personId } }))
    const says =
      /For the person “.+” \(person_\w+\): Deputy from none to “Bob” \(person_\w+\), .+ UTC to .+ UTC\.$/
    const body = { deputyId, from: inDays(1), until: inDays(8) }
    return { request: ['POST', `/people/${personId}/deputies`, body], says, read }
  },
  async 'a rule that is switched off'({ client, agent }) {
    const params = { agentId: agent.id }
    await bodyOf(client.policies.toggle({ params, body: { field: 'requireIntent', value: true } }))
    const body = { field: 'requireIntent', value: false }
    const read = () => agentPolicy(client, agent.id)
    const says = /Cards need an approved intent from on to off\.$/
    return { request: ['PATCH', `/policies/agent/${agent.id}/toggle`, body], says, read }
  },
  async 'a new agent with a policy'({ client }) {
    const { id: policyId } = await aPolicy(client, standing)
    const read = async () => (await bodyOf(client.agents.list())).data.length
    const says =
      /Policy of the new agent “Buyer” from none to “Research budget” \(policy_\w+\), version 1, .*autoApproveLimitEuros 50/
    return { request: ['POST', '/agents', { name: 'Buyer', policyId }], says, read }
  },
  async 'a raised budget of all agents'({ client }) {
    await bodyOf(client.policies.setBudget({ body: { dailyLimitEuros: 100 } }))
    const read = async () => (await bodyOf(client.policies.budget())).dailyLimitEuros
    return {
      request: ['PUT', '/budget', {}],
      says: /account .*: Budget a day from € 100.00 to none\.$/,
      read,
    }
  },
  async 'a raised budget of a run'({ client, agent }) {
    const { id } = await aRun(client, agent.id, { budgetEuros: 10 })
    const read = async () => (await bodyOf(client.runs.get({ params: { id } }))).budgetEuros
    return {
      request: ['PATCH', `/runs/${id}`, { budgetEuros: 11 }],
      says: /run .*Budget from € 10.00 to € 11.00/,
      read,
    }
  },
  async 'a token'({ client, agent }) {
    const read = async () => (await bodyOf(client.agentTokens.list({ params: { id: agent.id } }))).data.length
    const body = { label: 'Laptop', scopes: ['payer'], maxAmountEuros: 100, expiresInDays: 30 }
    const says = /New token from none to “Laptop”, with payer, at most € 100.00 in all, for 30 days\.$/
    return { request: ['POST', `/agents/${agent.id}/tokens`, body], says, read }
  },
  async 'a delegation'({ client, agent }) {
    const body = { agentId: agent.id, maxAmountEuros: 20, expiresInMinutes: 60, merchant: 'Bookshop' }
    const read = async () => (await bodyOf(client.delegations.list())).data.length
    const says = /New delegation from none to € 20.00 in all, only for “Bookshop”, for 60 minutes\.$/
    return { request: ['POST', '/delegations', body], says, read }
  },
  async 'an agent that a person has frozen'({ client, agent: { id } }) {
    await bodyOf(client.agents.freeze({ params: { id } }))
    const read = async () => (await bodyOf(client.agents.get({ params: { id } }))).status
    return {
      request: ['POST', `/agents/${id}/unfreeze`],
      says: /agent .*: Status from frozen to active\.$/,
      read,
    }
  },
  async 'an agent that risk has frozen'({ client, agent: { id } }) {
    await bodyOf(client.risk.configure({ body: onlySignal('newMerchant', 100) }))
    await anIntent(client, id, { country: 'DE' })
    const read = async () => (await bodyOf(client.agents.get({ params: { id } }))).status
    return {
      request: ['POST', `/risk/agents/${id}/unfreeze`],
      says: /agent .*: Status from frozen to active\.$/,
      read,
    }
  },
  async 'a milder risk configuration'({ client }) {
    const read = async () => (await bodyOf(client.risk.config())).thresholds
    const body = { thresholds: { review: 60, deny: 80, freeze: 95 } }
    return { request: ['PUT', '/risk/config', body], says: /Risk setting review from 50 to 60\.$/, read }
  },
  async 'a wallet that is unfrozen'({ client, agent: { walletId: id } }) {
    await bodyOf(client.wallets.update({ params: { id }, body: { status: 'frozen' } }))
    const read = async () => (await bodyOf(client.wallets.get({ params: { id } }))).status
    return {
      request: ['PATCH', `/wallets/${id}`, { status: 'active' }],
      says: /wallet .*: Status from frozen to active/,
      read,
    }
  },
  async 'a card'({ client, agent }) {
    const body = { agentId: agent.id, usage: 'multi', displayName: 'Papers', limits: { dailyLimitEuros: 40 } }
    const read = async () => (await bodyOf(client.cards.list())).data.length
    const says = /New card from none to “Papers”, for multi use, Daily limit € 40.00\.$/
    return { request: ['POST', '/cards', body], says, read }
  },
  async 'a raised limit of a card'(account) {
    const { id } = await aCardFor(account, { limits: { dailyLimitEuros: 40 } })
    const read = async () => (await bodyOf(account.client.cards.get({ params: { id } }))).limits
    return {
      request: ['PUT', `/cards/${id}/limits`, {}],
      says: /card .*: Daily limit from € 40.00 to none\.$/,
      read,
    }
  },
  async 'a merchant that a card may pay anew'(account) {
    const { id } = await aCardFor(account, { controls: { merchantAllowlist: ['Bookshop'] } })
    const read = async () => (await bodyOf(account.client.cards.get({ params: { id } }))).controls
    const body = { merchantAllowlist: ['Bookshop', 'Kiosk'] }
    const says = /card .*: Allowed merchants from “Bookshop” to also “Kiosk”\.$/
    return { request: ['PUT', `/cards/${id}/controls`, body], says, read }
  },
  async 'a card that is unfrozen'(account) {
    const { id } = await aCardFor(account)
    await bodyOf(account.client.cards.freeze({ params: { id } }))
    const read = async () => (await bodyOf(account.client.cards.get({ params: { id } }))).status
    return {
      request: ['POST', `/cards/${id}/unfreeze`],
      says: /card .*: Status from frozen to active\.$/,
      read,
    }
  },
  async 'a card that is activated'(account) {
    const { id } = await aCardFor(account, { activate: false })
    const read = async () => (await bodyOf(account.client.cards.get({ params: { id } }))).status
    return {
      request: ['POST', `/cards/${id}/activate`],
      says: /card .*: Status from inactive to active\.$/,
      read,
    }
  },
  async 'a card that an agent requests'({ client, agent }) {
    const body = { type: 'new_card', agentId: agent.id, usage: 'multi', reason: 'Papers' } as const
    const { id } = await bodyOf(client.cardRequests.create({ body }))
    const read = async () => (await bodyOf(client.cardRequests.get({ params: { id } }))).status
    return {
      request: ['POST', `/card-requests/${id}/approve`],
      says: /New card from none to “Research assistant”/,
      read,
    }
  },
  async 'a higher limit of a card that an agent requests'(account) {
    const { client, agent } = account
    const { id: cardId } = await aCardFor(account, { limits: { dailyLimitEuros: 40 } })
    const body = {
      type: 'limit_change',
      agentId: agent.id,
      cardId,
      limits: { dailyLimitEuros: 60 },
      reason: 'Papers',
    } as const
    const { id } = await bodyOf(client.cardRequests.create({ body }))
    const read = async () => (await bodyOf(client.cardRequests.get({ params: { id } }))).status
    return {
      request: ['POST', `/card-requests/${id}/approve`],
      says: /card .*: Daily limit from € 40.00 to € 60.00\.$/,
      read,
    }
  },
  async 'another account of a beneficiary'({ client }) {
    const { id, iban } = await aBeneficiary(client, { name: 'Adler GmbH' })
    const read = async () => (await bodyOf(client.beneficiaries.get({ params: { id } }))).iban
    return {
      request: ['PATCH', `/beneficiaries/${id}`, { iban: 'FR1420041010050500013M02606' }],
      says: new RegExp(
        `beneficiary “Adler GmbH” \\(${id}\\): IBAN from ${iban} to FR1420041010050500013M02606\\.$`,
      ),
      read,
    }
  },
  async 'another name of a beneficiary'({ client }) {
    const { id } = await aBeneficiary(client, { name: 'Adler GmbH' })
    const read = async () => (await bodyOf(client.beneficiaries.get({ params: { id } }))).name
    return {
      request: ['PATCH', `/beneficiaries/${id}`, { name: 'Geier GmbH' }],
      says: /beneficiary “Adler GmbH” .*: Name from “Adler GmbH” to “Geier GmbH”\.$/,
      read,
    }
  },
  async 'a payee whom the bank knows by another name'({ client }) {
    const { id: beneficiaryId } = await aBeneficiary(client, { name: 'Close Adler GmbH' })
    const { id } = await aSepaTransfer(client, { beneficiaryId, amountEuros: 8 })
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    const read = async () => (await bodyOf(client.transfers.get({ params: { id } }))).payeeConfirmedAt
    return {
      request: ['POST', `/transfers/${id}/confirm-payee`],
      says: /transfer .*: Payee of € 8.00 from “Adler GmbH” at the bank to “Close Adler GmbH”, \w+\.$/,
      read,
    }
  },
  async 'a key to which card data may be encrypted'({ client }) {
    const body = { label: 'Extension', publicKeyJwk: jwkOf(await aKeyPair()) }
    const read = async () => (await bodyOf(client.fillerKeys.list())).data.length
    const says =
      /account .*: New key to which card data is encrypted from none to “Extension”, with the thumbprint [\w-]{43}\.$/
    return { request: ['POST', '/checkout/filler-keys', body], says, read }
  },
  async 'a refund of a payment request'({ client }) {
    const { id } = await aPaidRequest(client, (await aWallet(client)).id)
    const read = async () => (await bodyOf(client.collect.refunds({ params: { id } }))).data.length
    const says = /payment request “[^”]+” \(request_\w+\): Refunded from € 0.00 to € 5.00\.$/
    return { request: ['POST', `/collect/requests/${id}/refund`, { amountEuros: 5 }], says, read }
  },
  async 'a refund of the payment of a request'({ client }) {
    const { id } = await aPaidRequest(client, (await aWallet(client)).id)
    const [payment] = (await bodyOf(client.collect.payments({ params: { id } }))).data
    const read = async () => (await bodyOf(client.collect.refunds({ params: { id } }))).data.length
    const body = { transactionId: payment?.transactionId, amountEuros: 5, reason: 'other' }
    const says = /payment request “[^”]+” \(request_\w+\): Refunded from € 0.00 to € 5.00\.$/
    return { request: ['POST', '/refunds', body], says, read }
  },
  async 'a host that machine payments may reach'({ client }) {
    const body = { type: 'allow', merchant: 'shop.example.com' }
    const read = async () => (await bodyOf(client.mpp.rules())).data.length
    return {
      request: ['POST', '/mpp/protect', body],
      says: /Rule to allow machine payments from none to “shop.example.com”/,
      read,
    }
  },
  async 'a host that is no longer refused'({ client }) {
    const { id } = await bodyOf(client.mpp.protect({ body: { type: 'deny', merchant: 'shop.example.com' } }))
    const read = async () => (await bodyOf(client.mpp.rules())).data.length
    return {
      request: ['DELETE', `/mpp/protect/${id}`],
      says: /Rule to deny machine payments from “shop.example.com” to none/,
      read,
    }
  },
}

describe.each(Object.keys(changes))('%s', name => {
  const change = changes[name] as (account: Account) => Promise<Change>

  test('is refused for a person without a passkey, who is told to create one', async () => {
    const account = await anAccount()
    const { request, read } = await change(account)
    const before = await read?.()
    const answer = await inConsole(account, request)
    expect([told(answer), answer.headers.get('link')]).toEqual(['403 passkey_required', null])
    expect(answer.body.error).toContain('/join')
    expect(await read?.()).toEqual(before)
  })

  test('needs the signature of a sentence that names it, and then is made', async () => {
    const account = await anAccount()
    await account.enrolPasskey()
    const { request, says, read } = await change(account)
    const before = await read?.()
    const asked = await inConsole(account, request)
    expect(told(asked)).toBe('400 assertion_required')
    expect(Object.keys(asked.body)).toEqual(['error'])
    const challenge = await linkedChallenge(account.session, asked)
    expect(challenge.sentence).toMatch(
      /^(Let more be spent|Let another person approve|Change who is paid|Pay money back)\. For the /,
    )
    expect(challenge.sentence).toMatch(says)
    expect(await read?.()).toEqual(before)
    const done = signing(request, challenge, account)
    expect((await inConsole(account, done)).status).toBeLessThan(300)
    expect(await read?.()).not.toEqual(before)
  })

  test('needs none with a key', async () => {
    const account = await anAccount()
    const { request } = await change(account)
    expect((await withKey(account, request)).status).toBeLessThan(300)
  })
})

describe('a signature', () => {
  test('is for this change only, and for the state from which it was made', async () => {
    const account = await anAccount()
    await account.enrolPasskey()
    const { id } = await agentPolicy(account.client, account.agent.id)
    const raise = (autoApproveLimitEuros: number): Request => [
      'PUT',
      `/policies/${id}`,
      { name: 'Research budget', ...standing, autoApproveLimitEuros },
    ]
    const challengeOf = (request: Request) => challengeFor(account, request)
    const other = signing(raise(250), await challengeOf(raise(60)), account)
    expect(told(await inConsole(account, other))).toBe('400 statement_outdated')
    const earlier = signing(raise(250), await challengeOf(raise(250)), account)
    expect((await withKey(account, raise(20))).status).toBe(200)
    expect(told(await inConsole(account, earlier))).toBe('400 statement_outdated')
    expect((await agentPolicy(account.client, account.agent.id)).autoApproveLimitEuros).toBe(20)
    const again = signing(raise(250), await challengeOf(raise(250)), account)
    expect(told(await inConsole(account, again))).toBe('200')
  })

  test('counts once', async () => {
    const account = await anAccount()
    await account.enrolPasskey()
    const request: Request = ['POST', `/agents/${account.agent.id}/tokens`, { label: 'Laptop' }]
    const done = signing(request, await challengeFor(account, request), account)
    const answers = await Promise.all([inConsole(account, done), inConsole(account, done)])
    expect(answers.map(told).sort()).toEqual(['201', '400 challenge_used'])
  })

  test('is the person’s own, and for nothing else that a passkey signs', async () => {
    const account = await anAccount()
    await account.enrolPasskey()
    const { id: otherId } = await aPerson(service, account, { role: 'owner' })
    const other = new Authenticator({ origin: originOf(service) })
    await enrol(account.client, otherId, other, account)
    const request: Request = ['POST', `/agents/${account.agent.id}/tokens`, { label: 'Laptop' }]
    const challenge = await challengeFor(account, request)
    const foreign = signing(request, challenge, { ...account, device: other })
    expect(told(await inConsole(account, foreign))).toBe('401 assertion_invalid')
    const body = { purpose: 'invitation', subject: { name: 'Grace', role: 'viewer' } } as const
    const webauthnAssertion = await assertion(account.session, account, body)
    const wrong: Request = [request[0], request[1], { label: 'Laptop', webauthnAssertion }]
    expect(told(await inConsole(account, wrong))).toBe('400 statement_outdated')
  })
})

test('a change that is longer than a person can read is not signed', async () => {
  const account = await anAccount()
  await account.enrolPasskey()
  const { id } = await agentPolicy(account.client, account.agent.id)
  const rules = (merchantAllowlist: string[]) => ({ name: 'Research', ...standing, merchantAllowlist })
  await bodyOf(account.client.policies.replace({ params: { id }, body: rules(['Bookshop']) }))
  const shops = Array.from({ length: 800 }, (_, n) => `Shop ${n} ${'x'.repeat(80)}`)
  const answer = await inConsole(account, ['PUT', `/policies/${id}`, rules(shops)])
  expect(told(answer)).toBe('400 too_much_to_sign')
  expect((await agentPolicy(account.client, account.agent.id)).merchantAllowlist).toEqual(['Bookshop'])
})

describe('a role', () => {
  test('with more rights needs an owner’s passkey, one with fewer none', async () => {
    const account = await anAccount()
    await account.enrolPasskey()
    const { id: personId } = await aPerson(service, account, { role: 'approver' })
    const become = (role: string): Request => ['PATCH', `/people/${personId}`, { role }]
    expect(told(await inConsole(account, become('owner')))).toBe('400 assertion_required')
    const subject = { personId, role: 'owner' } as const
    const webauthnAssertion = await assertion(account.session, account, { purpose: 'invitation', subject })
    const done: Request = ['PATCH', `/people/${personId}`, { role: 'owner', webauthnAssertion }]
    expect(told(await inConsole(account, done))).toBe('200')
    expect(told(await inConsole(account, become('viewer')))).toBe('200')
    expect(told(await inConsole(account, become('approver')))).toBe('400 assertion_required')
  })
})

describe('what narrows', () => {
  test('needs no signature, also for a person without a passkey', async () => {
    const account = await anAccount()
    const { client, agent } = account
    const { id, templateId } = await agentPolicy(client, agent.id)
    const { id: beneficiaryId } = await aBeneficiary(client)
    const { id: ownerId } = await aPerson(service, account, { role: 'owner' })
    const { id: tokenId } = await aToken(client, agent.id)
    const { id: delegationId } = await aDelegation(client, agent.id)
    const { id: cardId } = await aCardFor(account)
    const rules = { name: 'Research budget', ...standing }
    const narrowing: readonly Request[] = [
      ['PUT', `/policies/${id}`, { ...rules, autoApproveLimitEuros: 20, merchantBlocklist: ['Casino'] }],
      ['PUT', `/policies/${id}`, { ...rules, autoApproveLimitEuros: null, merchantBlocklist: ['Casino'] }],
      ['PATCH', `/policies/agent/${agent.id}/toggle`, { field: 'requireAttestation', value: true }],
      ['PUT', '/budget', { dailyLimitEuros: 100 }],
      ['PUT', '/budget', { dailyLimitEuros: 90 }],
      ['PUT', '/risk/config', { thresholds: { review: 40, deny: 80, freeze: 95 } }],
      ['PUT', `/cards/${cardId}/limits`, { dailyLimitEuros: 40 }],
      ['PUT', `/cards/${cardId}/controls`, { merchantAllowlist: ['Bookshop'] }],
      ['PATCH', `/wallets/${agent.walletId}`, { status: 'frozen' }],
      ['POST', '/mpp/protect', { type: 'deny', merchant: 'shop.example.com' }],
      ['POST', '/agents', { name: 'Without a policy' }],
      ['PATCH', `/beneficiaries/${beneficiaryId}`, { email: 'ada@example.com' }],
      ['POST', '/policies', { name: 'Wide', autoApproveLimitEuros: 900 }],
      ['PUT', `/policies/${templateId}`, { ...rules, autoApproveLimitEuros: 20 }],
      ['PATCH', `/people/${ownerId}`, { role: 'approver' }],
      ['PATCH', `/people/${ownerId}`, { role: 'viewer' }],
      ['DELETE', `/agents/${agent.id}/tokens/${tokenId}`],
      ['POST', `/delegations/${delegationId}/revoke`],
      ['POST', `/cards/${cardId}/freeze`],
      ['POST', `/agents/${agent.id}/freeze`],
    ]
    for (const request of narrowing)
      expect([request[1], (await inConsole(account, request)).status < 300]).toEqual([request[1], true])
  })
})

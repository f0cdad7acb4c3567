import { createPublicKey } from 'node:crypto'
import { newId } from '../../../src/values/ids.ts'
import { aCard } from '../../support/cards/cards.ts'
import { aKeyPair } from '../../support/cards/encryption-keys.ts'
import { register } from '../../support/cards/reveal.ts'
import {
  aBeneficiary,
  aFundedAgent,
  anIntent,
  aPolicy,
  aWallet,
  bodyOf,
  type TestClient,
} from '../../support/factories.ts'
import type { TestService } from '../../support/harness.ts'
import { Authenticator, coseKeyOf } from '../../support/identity/authenticator.ts'
import { cbor } from '../../support/identity/cbor.ts'
import { pagesOrigin, signed } from '../../support/identity/people.ts'
import { type AdversaryKind, isAsked, LARGE, type Name, type Setting, type Step } from './setting.ts'

export interface Member {
  readonly id: string
  readonly name: string
  readonly device: Authenticator
}

export type MemberName = Name | 'vera' | 'dan' | 'gone'

const people = {
  ada: ['owner', 'active'],
  bob: ['owner', 'active'],
  cem: ['approver', 'active'],
  vera: ['viewer', 'active'],
  /** May approve, and has no passkey yet. */
  dan: ['approver', 'active'],
  gone: ['approver', 'removed'],
} as const satisfies Record<MemberName, readonly [role: string, status: string]>

const PEOPLE = `
insert into people (owner_id, mode, id, created_at, updated_at, name, role, status, joined_at, removed_at)
select $1, 'test', id, now(), now(), name, role, status, now(), case when status = 'removed' then now() end
from jsonb_to_recordset($2) as new (id text, name text, role text, status text)`

const PASSKEYS = `
insert into passkeys (owner_id, mode, id, created_at, updated_at, person_id, name, credential_id, public_key,
  public_key_jwk, algorithm, counter, backup_eligible, backed_up, transports, aaguid, enrolled_by)
select $1, 'test', id, now(), now(), "personId", 'Phone', "credentialId", "publicKey", jwk, 'ES256', 0, true, true, '{}',
  '00000000-0000-0000-0000-000000000000', 'console'
from jsonb_to_recordset($2) as new (id text, "personId" text, "credentialId" text, "publicKey" text, jwk jsonb)`

const passkeyOf = ({ id: personId, device }: Member) => ({
  id: newId('passkey'),
  personId,
  credentialId: device.credentialId,
  publicKey: cbor(coseKeyOf(createPublicKey({ key: device.publicKeyJwk as never, format: 'jwk' }))).toString(
    'base64url',
  ),
  jwk: device.publicKeyJwk,
})

/** Writes people with their passkeys as they are after their enrolment, in place of some thirty requests. */
async function settlePeople(
  service: Pick<TestService, 'sql' | 'url'>,
  ownerId: string,
): Promise<Readonly<Record<MemberName, Member>>> {
  const origin = await pagesOrigin(service)
  const members = Object.keys(people).map(name => ({
    id: newId('person'),
    name,
    device: new Authenticator({ origin }),
  }))
  const rows = members.map(({ id, name }) => {
    const [role, status] = people[name as MemberName]
    return { id, name, role, status }
  })
  const enrolled = members.filter(({ name }) => name !== 'dan' && name !== 'gone').map(passkeyOf)
  await service.sql(PEOPLE, [ownerId, JSON.stringify(rows)])
  await service.sql(PASSKEYS, [ownerId, JSON.stringify(enrolled)])
  return Object.fromEntries(members.map(one => [one.name, one])) as Record<MemberName, Member>
}

/** As the contract writes them. */
export const policySteps = (steps: readonly Step[], members: Readonly<Record<string, Member>>) =>
  steps.map(({ above, of, need }, place) => ({
    aboveEuros: above,
    of: typeof of === 'string' ? of : of.map(name => members[name]?.id ?? name),
    need,
    withinMinutes: 60,
    then: place === steps.length - 1 ? ('deny' as const) : ('next' as const),
  }))

/** Signs small payments alone. */
export const RULES = { name: 'Standing rules', autoApproveLimitEuros: 15 } as const

interface AgentCard {
  readonly id: string
  /** The key to which its data may be encrypted. */
  readonly fillerKeyId: string
}

export interface Account {
  readonly setting: Setting
  readonly ownerId: string
  readonly key: string
  /** Calls with a key of the account, which the adversary does not have. */
  readonly client: TestClient
  readonly members: Readonly<Record<MemberName, Member>>
  readonly agentId: string
  readonly walletId: string
  readonly looseAgent: { readonly id: string; readonly walletId: string } | undefined
  readonly reserveId: string
  readonly policyId: string
  readonly templateId: string
  readonly beneficiaryId: string
  /** Undefined where the adversary can do nothing with cards. */
  readonly card: AgentCard | undefined
  /** Waits for people from the beginning. */
  readonly waiting: { readonly id: string; readonly given: readonly MemberName[] }
}

const pair = aKeyPair()

/** Its own limit holds to what the agent's token may spend, or it has none. */
async function cardOf(
  client: TestClient,
  agentId: string,
  { adversary, isCardLimited }: Setting,
): Promise<AgentCard | undefined> {
  if (withoutCards.includes(adversary)) return undefined
  const limits = { usage: 'single', limits: { maxTransactionEuros: 12 } } as const
  const [card, key] = await Promise.all([
    aCard(client, { agentId, ...(isCardLimited ? limits : {}) }),
    register(client, await pair),
  ])
  return { id: card.id, fillerKeyId: key.id }
}

const withoutCards: readonly AdversaryKind[] = ['approver', 'viewer', 'moneyKey', 'policyKey']

async function agentsOf(client: TestClient, { setting, members }: Pick<Account, 'setting' | 'members'>) {
  const looseAgent = setting.hasLooseAgent ? await looseAgentOf(client) : undefined
  const approval = policySteps(setting.steps, members)
  const { id: templateId } = await aPolicy(client, { ...RULES, approval })
  const agent = await aFundedAgent(client, { policyId: templateId }, 2_000)
  return { templateId, agent, looseAgent }
}

/** Older than the steps: an agent of today begins with steps. */
async function looseAgentOf(client: TestClient) {
  const { id: policyId } = await aPolicy(client, RULES)
  return aFundedAgent(client, { name: 'Loose', policyId }, 500)
}

/** An account whose agent's large payments people approve, before anyone tries to go round them. */
export async function settleAccount(service: TestService, setting: Setting): Promise<Account> {
  const { ownerId, client, key } = await service.owner()
  const members = await settlePeople(service, ownerId)
  const { templateId, agent, looseAgent } = await agentsOf(client, { setting, members })
  const [reserve, beneficiary, card, policy, waiting] = await Promise.all([
    aWallet(client, setting.hasReserve ? 500 : 0),
    aBeneficiary(client, { iban: 'DE89370400440532013000' }),
    cardOf(client, agent.id, setting),
    bodyOf(client.policies.effective({ params: { agentId: agent.id } })),
    anIntent(client, agent.id, { amountEuros: LARGE, merchant: 'Printer' }),
  ])
  const account = { setting, ownerId, key, client, members, agentId: agent.id, walletId: agent.walletId }
  return {
    ...account,
    looseAgent,
    templateId,
    policyId: policy.id,
    reserveId: reserve.id,
    beneficiaryId: beneficiary.id,
    card,
    waiting: { id: waiting.id, given: await approveFirst(account, waiting.id) },
  }
}

const personOf = { owner: 'ada', approver: 'cem', viewer: 'vera' } as const

export const adversaryPerson = ({ adversary }: Setting): MemberName | undefined =>
  adversary in personOf ? personOf[adversary as keyof typeof personOf] : undefined

/** One of the others whom the first step asks approves what waits, where another one must as well. */
async function approveFirst(
  { client, members, setting }: Pick<Account, 'client' | 'members' | 'setting'>,
  id: string,
): Promise<readonly MemberName[]> {
  const [first] = setting.steps
  const giver = ['bob', 'cem', 'ada'].find(
    name => first && isAsked(first, name) && name !== adversaryPerson(setting),
  ) as Name | undefined
  const needed = setting.steps.reduce((sum, { need }) => sum + need, 0)
  if (!giver || needed < 2) return []
  const answer = await approveAs(client, members[giver], id)
  if (answer.error !== undefined) throw new Error(answer.error)
  return [giver]
}

export async function approveAs(client: TestClient, { id: personId, device }: Member, intentId: string) {
  const challenge = await client.intents.challenge({ params: { intentId }, body: { personId } })
  if (challenge.error !== undefined) return challenge as unknown as ReturnType<typeof approve>
  const webauthnAssertion = signed(challenge.body, device)
  return approve(client, intentId, webauthnAssertion)
}

const approve = (client: TestClient, id: string, webauthnAssertion: ReturnType<typeof signed>) =>
  client.intents.approve({ params: { id }, body: { webauthnAssertion } })

export const nameOf = ({ members }: Account, personId: string): string | undefined =>
  Object.values(members).find(({ id }) => id === personId)?.name

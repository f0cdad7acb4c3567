import type { CallAnswer } from '../../../src/derive/client.ts'
import type { Scope } from '../../../src/kernel/contract/scopes.ts'
import { clientAt } from '../../support/client.ts'
import { approvedCode, connect } from '../../support/control/assistants.ts'
import {
  aDelegation,
  aKey,
  aToken,
  bodyOf,
  redeemDelegation,
  type TestClient,
} from '../../support/factories.ts'
import { http, type TestService } from '../../support/harness.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { assertion, signed } from '../../support/identity/people.ts'
import { type Account, adversaryPerson, type Member } from './account.ts'
import type { AdversaryKind } from './setting.ts'

export interface Credential {
  readonly what: string
  readonly kind: 'console' | 'key' | 'token'
  readonly client: TestClient
  readonly headers: Readonly<Record<string, string>>
  /** Who uses it in the console. */
  readonly person?: Member
  /** What it may spend in all, in euros. */
  readonly maximum?: number | null
  /** It is of someone whom the adversary let in: a puppet. */
  readonly isGuest?: boolean
  /** An assistant has tools in place of operations. */
  readonly tools?: (name: string, input: Input) => Promise<Answer>
}

// biome-ignore lint/suspicious/noExplicitAny: a sequence is made of any operations, and reads ids of their answers
export type Answer = CallAnswer<any>
export type Input = { readonly params?: object; readonly body?: object; readonly query?: object }

/** Any operation of the contracts by its name, such as `policies.replace`. */
export function callBy(
  { client, tools }: Pick<Credential, 'client' | 'tools'>,
  name: string,
  input: Input,
): Promise<Answer> {
  if (tools) return tools(name, input)
  const [noun = '', verb = ''] = name.split('.')
  type Calls = Readonly<Record<string, Readonly<Record<string, (input: Input) => Promise<Answer>>>>>
  const call = (client as unknown as Calls)[noun]?.[verb]
  if (!call) throw new Error(`there is no operation ${name}`)
  return call(input)
}

const payerScopes = ['payer', 'cards:reveal'] as const

const moneyScopes: Scope[] = [
  'transfers:create',
  'transfers:read',
  'wallets:write',
  'wallets:fund',
  'wallets:read',
  'beneficiaries:write',
  'intents:write',
  'intents:read',
  'sandbox:write',
]

const policyScopes: Scope[] = ['policies:write', 'policies:read', 'agents:read', 'intents:read']

type Start = (account: Account, service: TestService) => Promise<readonly Credential[]>

const keyWith = async (
  { client }: Account,
  service: Pick<TestService, 'url'>,
  scopes?: Scope[],
): Promise<Credential> => {
  const { key } = await aKey(client, scopes ? { scopes } : {})
  return keyCredential(service, String(key), 'a key of the account')
}

export const keyCredential = ({ url }: Pick<TestService, 'url'>, key: string, what: string): Credential => ({
  what,
  kind: 'key',
  client: clientAt({ url, token: key }),
  headers: { authorization: `Bearer ${key}` },
})

export const tokenCredential = (
  { url }: Pick<TestService, 'url'>,
  token: string,
  { what, maximum = null }: { readonly what: string; readonly maximum?: number | null },
): Credential => ({
  what,
  kind: 'token',
  client: clientAt({ url, token }),
  headers: { authorization: `Bearer ${token}` },
  maximum,
})

/** A person in the console, and a key that the person made there. */
async function inConsole(account: Account, service: TestService): Promise<Credential[]> {
  const name = adversaryPerson(account.setting) ?? 'vera'
  const person = account.members[name]
  const { client, headers } = await signedInTo(service, account, { personId: person.id })
  const console = { what: `${name} in the console`, kind: 'console', client, headers, person } as const
  if (name !== 'ada') return [console]
  const subject = { name: 'Own key', environment: 'sandbox', scopes: null } as const
  const webauthnAssertion = await assertion(client, person, { purpose: 'key', subject })
  const body = { name: subject.name, environment: subject.environment, webauthnAssertion }
  const { key } = await bodyOf(client.keys.create({ body }))
  return [console, keyCredential(service, String(key), 'a key that ada made in the console')]
}

export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

const toolNames: Readonly<Record<string, string>> = {
  'intents.create': 'declare_intent',
  'intents.cancel': 'cancel_intent',
  'transfers.create': 'create_transfer',
  'runs.create': 'start_run',
}

const refusedTool = (status: number, error: string): Answer => ({
  status,
  headers: new Headers(),
  body: undefined,
  error,
  code: 'refused_tool',
})

/** The result in an answer that is JSON or one event. */
const resultIn = (text: string): { isError?: boolean; structuredContent?: object } =>
  JSON.parse(/\{.*\}/.exec(text)?.[0] ?? '{}').result ?? { isError: true }

/** Calls operations by the tools of an assistant. */
const toolsWith =
  (url: string, token: string): NonNullable<Credential['tools']> =>
  async (operation, { params, body }) => {
    const name = toolNames[operation]
    if (!name) return refusedTool(403, 'an assistant has no such tool')
    const call = { name, arguments: { ...params, ...body } }
    const { status, headers, text } = await http(url, 'POST', '/mcp', {
      token,
      headers: { accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call },
    })
    const { isError, structuredContent } = resultIn(text)
    return isError || structuredContent === undefined
      ? refusedTool(400, text)
      : { status, headers, body: structuredContent, error: undefined, code: undefined }
  }

interface Connecting {
  readonly person: Member
  readonly headers: Readonly<Record<string, string>>
}

/** An assistant that an owner connects, with a mandate of theirs. */
export async function assistantOf(
  { agentId, members }: Pick<Account, 'agentId' | 'members'>,
  { url }: Pick<TestService, 'url'>,
  { person, headers }: Connecting,
): Promise<Credential> {
  const pages = { client: clientAt({ url, headers }) }
  const choices = async (ticket: string) => {
    const terms = { agentId, name: null, constraints: { totalEuros: 500 }, expiresAt: inDays(7) }
    const body = { ticket, scopes: ['payer'], ...terms }
    const challenge = await callBy(pages, 'oauth.challenge', { body })
    if (challenge.error !== undefined) throw new Error(`connecting: ${challenge.error}`)
    return { ...terms, webauthnAssertion: signed(challenge.body, person.device) }
  }
  const { access_token } = await connect(url, await approvedCode({ url, headers }, choices))
  const what = `an assistant of ${nameIn(members, person)}`
  return { ...tokenCredential({ url }, String(access_token), { what }), tools: toolsWith(url, access_token) }
}

const nameIn = (members: Account['members'], { id, name }: Member): string =>
  Object.values(members).find(one => one.id === id)?.name ?? name

/** Another owner has connected it. */
const connectedByBob: Start = async (account, service) => {
  const { bob: person } = account.members
  const { headers } = await signedInTo(service, account, { personId: person.id })
  return [await assistantOf(account, service, { person, headers })]
}

const starts: Readonly<Record<AdversaryKind, Start>> = {
  owner: inConsole,
  approver: inConsole,
  viewer: inConsole,
  fullKey: async (account, service) => [await keyWith(account, service)],
  moneyKey: async (account, service) => [await keyWith(account, service, moneyScopes)],
  policyKey: async (account, service) => [await keyWith(account, service, policyScopes)],
  async token({ client, agentId, setting: { tokenMaximum } }, service) {
    const members = { scopes: [...payerScopes], maxAmountEuros: tokenMaximum }
    const { token } = await aToken(client, agentId, members)
    return [tokenCredential(service, String(token), { what: 'a token', maximum: tokenMaximum })]
  },
  async delegation({ client, agentId }, service) {
    const delegation = await aDelegation(client, agentId, { maxAmountEuros: 12 })
    const { token } = await redeemDelegation(service.client(), delegation)
    return [tokenCredential(service, String(token), { what: 'a delegation', maximum: 12 })]
  },
  assistant: connectedByBob,
}

export const credentialsOf: Start = (account, service) => starts[account.setting.adversary](account, service)

import { type Authenticator, dashboardActor } from '../derive/http/authenticate.ts'
import { parseInput } from '../derive/http/input.ts'
import type { Actor } from '../kernel/contract/actor.ts'
import type { RegisteredOperation } from '../kernel/contract/operation.ts'
import type { RunningService } from '../kernel/contract/ports.ts'
import type { ExecuteCall } from '../kernel/run/execute.ts'

interface OperationParts {
  readonly execute: ExecuteCall
  readonly operations: readonly RegisteredOperation[]
  readonly gate: Authenticator
}

async function holderOf({ gate, operations }: OperationParts, key: string): Promise<Actor | undefined> {
  const { operation } = operationOf(operations, 'agents.create')
  return gate(operation, { authorization: `Bearer ${key}`, dashboardSecret: undefined }).catch(
    () => undefined,
  )
}

function operationOf(operations: readonly RegisteredOperation[], key: string): RegisteredOperation {
  const operation = operations.find(candidate => candidate.key === key)
  if (!operation) throw new Error(`there is no operation ${key}`)
  return operation
}

interface Input {
  readonly params?: Record<string, string>
  readonly query?: Record<string, string>
  readonly body?: unknown
}

class RefusedStep extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const operationRunner =
  ({ execute, operations }: OperationParts) =>
  async (
    actor: Actor,
    key: string,
    { params = {}, query = {}, body = {} }: Input,
  ): Promise<Record<string, unknown>> => {
    const operation = operationOf(operations, key)
    const input = { params, ...parseInput(operation.operation, new URLSearchParams(query), body) }
    const outcome = await execute({
      operation,
      actor,
      input,
      requestId: 'start',
      address: null,
      idempotencyKey: null,
    })
    const answer = JSON.parse(String(outcome.body))
    if (outcome.errorCode) throw new RefusedStep(outcome.errorCode, `${key}: ${answer.error}`)
    return answer
  }

export interface SeededSandbox {
  ownerId: string
  apiKey: string
}

/**
 * Signs up through the same operations as a customer: an owner with a key and a wallet of 10,000 €, and an
 * agent funded from it with the preset `standard`.
 */
export async function seedSandbox(
  known: SeededSandbox | null,
  parts: OperationParts,
): Promise<SeededSandbox> {
  if (known && (await holderOf(parts, known.apiKey))) return known
  const run = operationRunner(parts)
  const account = await run(dashboardActor, 'keys.openAccount', {
    body: {
      name: 'Sandbox',
      email: 'sandbox@example.com',
      type: 'business',
      country: 'DE',
      plan: 'enterprise',
    },
  })
  const apiKey = String(account.key)
  const owner = await holderOf(parts, apiKey)
  if (!owner) throw new Error('the new sandbox key does not work')
  const preset = await run(owner, 'policies.preset', { params: { presetId: 'standard' } })
  const policy = await run(owner, 'policies.create', { body: preset.policy })
  const wallet = await run(owner, 'wallets.create', { body: { name: 'Main' } })
  await run(owner, 'fund.wallet', { params: { id: String(wallet.id) }, body: { amountEuros: 10_000 } })
  const agent = await run(owner, 'agents.create', { body: { name: 'Sandbox agent', policyId: policy.id } })
  await run(owner, 'agents.fund', { params: { id: String(agent.id) }, body: { amountEuros: 500 } })
  return { ownerId: String(account.id), apiKey }
}

interface SignInParts extends OperationParts {
  readonly ports: { readonly service: Pick<RunningService, 'pageUrl' | 'relyingParty'> }
}

export interface ConsoleSignInLink {
  readonly url: string
  readonly byLink: boolean
}

/**
 * Returns a link until a passkey exists, afterwards the sign-in page. Null if passkeys cannot exist at this
 * address.
 */
export async function consoleSignInLink(
  sandbox: SeededSandbox,
  parts: SignInParts,
): Promise<ConsoleSignInLink | null> {
  const owner = await holderOf(parts, sandbox.apiKey)
  if (!owner || parts.ports.service.relyingParty().unavailable) return null
  const passkeys = await operationRunner(parts)(owner, 'passkeys.list', { query: { limit: '1' } })
  if ((passkeys.data as unknown[]).length === 0) return newConsoleLink(sandbox, parts)
  return { url: parts.ports.service.pageUrl('/login'), byLink: false }
}

/** Codes that leave only the sign-in page: no owner was invited, or an owner has a passkey. */
const ONLY_BY_PASSKEY: readonly string[] = [
  'owner_missing',
  'assertion_required',
  'person_required',
  'person_not_found',
]

/** A new link in place of the last one, or the sign-in page. */
export async function newConsoleLink(sandbox: SeededSandbox, parts: SignInParts): Promise<ConsoleSignInLink> {
  try {
    return { url: String((await createLink(sandbox, parts)).url), byLink: true }
  } catch (error) {
    if (!(error instanceof RefusedStep && ONLY_BY_PASSKEY.includes(error.code))) throw error
    return { url: parts.ports.service.pageUrl('/login'), byLink: false }
  }
}

/** As the operator, and for a verified owner with the account's key, as the service asks. */
async function createLink({ ownerId, apiKey }: SeededSandbox, parts: SignInParts) {
  const run = operationRunner(parts)
  try {
    return await run(dashboardActor, 'console.createSandboxLink', { body: { ownerId } })
  } catch (error) {
    const key = await holderOf(parts, apiKey)
    if (!(key && error instanceof RefusedStep && error.code === 'owner_verified')) throw error
    const people = await run(key, 'people.list', { query: { role: 'owner', limit: '1' } })
    const [owner] = people.data as { id: string }[]
    return run(key, 'console.createLink', { body: owner ? { personId: owner.id } : {} })
  }
}

import { linkedChallengeId } from '../../../src/values/challenge-link.ts'
import type { TestService } from '../../support/harness.ts'
import type { Authenticator } from '../../support/identity/authenticator.ts'
import { signed } from '../../support/identity/people.ts'
import { type Account, adversaryPerson, type Member } from './account.ts'
import { type Answer, type Credential, callBy, credentialsOf, type Input } from './adversary.ts'

/** What the adversary knows by its name, and can name in an operation. */
export class Known {
  readonly agents: string[]
  readonly wallets: string[]
  readonly policies: string[]
  readonly templates: string[]
  readonly intents: string[]
  readonly cards: string[]
  readonly beneficiaries: string[]
  readonly people: string[]
  readonly keys: string[] = []
  readonly changes: string[] = []
  readonly tokens: string[] = []
  readonly delegations: string[] = []
  readonly mandates: string[] = []
  readonly transfers: string[] = []
  readonly cardRequests: string[] = []
  readonly accessCredentials: string[] = []
  readonly links: string[] = []

  constructor(account: Account) {
    const { looseAgent, members } = account
    this.agents = [account.agentId, ...(looseAgent ? [looseAgent.id] : [])]
    this.wallets = [account.walletId, account.reserveId, ...(looseAgent ? [looseAgent.walletId] : [])]
    this.policies = [account.policyId, account.templateId]
    this.templates = [account.templateId]
    this.intents = [account.waiting.id]
    this.cards = account.card ? [account.card.id] : []
    this.beneficiaries = [account.beneficiaryId]
    this.people = Object.values(members).map(({ id }) => id)
  }
}

export interface Finding {
  readonly rule: string
  readonly what: string
}

interface Subject {
  readonly purpose: 'key' | 'invitation' | 'enrolment'
  readonly subject: unknown
}

// biome-ignore lint/suspicious/noExplicitAny: the members of each operation's input
type Members = { readonly params: any; readonly body: any }

/** What a passkey signs before these operations, whose refusals have no challenge. */
const signedBefore: Readonly<Record<string, (input: Members) => Subject>> = {
  'keys.create': ({ body: { name, environment, scopes = null } }) => ({
    purpose: 'key',
    subject: { name, environment, scopes },
  }),
  'keys.rotate': ({ params: { id } }) => ({ purpose: 'key', subject: { keyId: id } }),
  'people.create': ({ body: { name, email, role } }) => ({
    purpose: 'invitation',
    subject: { name, email, role },
  }),
  'people.update': ({ params: { id }, body: { role } }) => ({
    purpose: 'invitation',
    subject: { personId: id, role },
  }),
  'people.link': ({ params: { id } }) => ({ purpose: 'invitation', subject: { personId: id } }),
  'console.createLink': ({ body: { personId } }) => ({ purpose: 'invitation', subject: { personId } }),
  'passkeys.registerOptions': ({ body: { personId } }) => ({ purpose: 'enrolment', subject: personId }),
}

/** These show their own challenge, for the body that is sent. */
const challengedBy: Readonly<Record<string, string>> = {
  'transfers.create': 'transfers.challenge',
  'transfers.split': 'transfers.challenge',
}

type Challenge = Parameters<typeof signed>[0]

/** What a refusal asks a passkey to sign, read by who was refused. */
export async function linkedChallengeOf(
  credential: Pick<Credential, 'client' | 'tools'>,
  { headers }: Answer,
): Promise<Challenge | undefined> {
  const id = linkedChallengeId(headers?.get('link'))
  if (id === undefined) return undefined
  const { error, body } = await callBy(credential, 'passkeys.getChallenge', { params: { id } })
  return error === undefined ? body : undefined
}

/** An operation that was carried out. */
export interface Act {
  readonly credential: Credential
  readonly name: string
  readonly input: Input
  readonly answer: Answer
}

type Judge = (world: World, act: Act) => Promise<void>

interface Surroundings {
  readonly service: TestService
  readonly judge: Judge
}

/** One account, and what the adversary has of it by now. */
export class World {
  readonly account: Account
  readonly service: TestService
  readonly credentials: Credential[]
  readonly known: Known
  /** The people whom the adversary is: the first, and those who were let in on the way. */
  readonly persons: Member[]
  readonly steps: string[] = []
  readonly findings: Finding[] = []
  /** The intents that the adversary declared, and not with a credential of a guest. */
  readonly declared = new Set<string>()
  /** Whether fewer people suffice by now: what comes later is no further finding. */
  isLoosened = false
  /** Operations that were carried out. */
  readonly done = new Set<string>()

  readonly #judge: Judge

  constructor(account: Account, { service, judge }: Surroundings, credentials: readonly Credential[]) {
    this.#judge = judge
    const name = adversaryPerson(account.setting)
    this.account = account
    this.service = service
    this.credentials = [...credentials]
    this.known = new Known(account)
    this.persons = name ? [account.members[name]] : []
  }

  static async of(account: Account, surroundings: Surroundings): Promise<World> {
    return new World(account, surroundings, await credentialsOf(account, surroundings.service))
  }

  /** A credential that another one has given. */
  gain(credential: Credential, { isGuest = false }: Pick<Credential, 'isGuest'>): void {
    this.credentials.push({ ...credential, isGuest: isGuest || credential.isGuest === true })
  }

  /** More payments of the kind are no further finding. */
  get hasPaidOutside(): boolean {
    return this.findings.some(({ rule }) => rule === 'payment')
  }

  find(rule: string, what: string): void {
    this.findings.push({ rule, what })
  }

  /** Carries out an operation with a credential, signed by its person where that is asked for, and judges it. */
  async act(credential: Credential, name: string, input: Input): Promise<Answer> {
    const first = await callBy(credential, name, await this.#signedInput(credential, name, input))
    const challenge = await linkedChallengeOf(credential, first)
    const device = this.#deviceOf(credential)
    const answer =
      challenge && device
        ? await callBy(credential, name, withSignature(input, signed(challenge, device)))
        : first
    if (answer.status >= 500) throw new Error(`${name}: ${answer.status} ${answer.error}`)
    this.steps.push(`${name} by ${credential.what}: ${answer.code ?? answer.status} ${inWords(this, input)}`)
    if (answer.error === undefined) {
      this.done.add(name)
      await this.#judge(this, { credential, name, input, answer })
    }
    return answer
  }

  #deviceOf({ person }: Credential): Authenticator | undefined {
    return (person ?? this.persons[0])?.device
  }

  async #signedInput(credential: Credential, name: string, input: Input): Promise<Input> {
    const device = this.#deviceOf(credential)
    const subject = signedBefore[name]?.(input as Members)
    const by = challengedBy[name]
    if (!device || !(subject || (by && credential.kind === 'console'))) return input
    const challenge = await (subject
      ? callBy(credential, 'passkeys.challenge', { body: subject })
      : callBy(credential, String(by), { body: input.body as object }))
    return challenge.error === undefined ? withSignature(input, signed(challenge.body, device)) : input
  }
}

const withSignature = (input: Input, webauthnAssertion: object): Input => ({
  ...input,
  body: { ...input.body, webauthnAssertion },
})

/** The input with what is named by ids, as a reader of a failure needs it. */
function inWords({ account }: World, input: Input): string {
  const known = new Map<string, string>([
    ...Object.values(account.members).map(({ id, name }) => [id, name] as const),
    [account.agentId, 'the agent'],
    [account.walletId, 'its wallet'],
    [account.reserveId, 'the reserve'],
    [account.policyId, 'its policy'],
    [account.templateId, 'its template'],
    [account.beneficiaryId, 'the payee'],
    [String(account.card?.id), 'its card'],
    [account.waiting.id, 'the intent that waits'],
    [String(account.looseAgent?.id), 'the loose agent'],
    [String(account.looseAgent?.walletId), 'the loose wallet'],
  ])
  const text = JSON.stringify({ ...input.params, ...input.body, webauthnAssertion: undefined })
  return text.replace(/\b[a-z]+_[0-9a-z]{26}\b/g, id => known.get(id) ?? id.slice(0, -20))
}

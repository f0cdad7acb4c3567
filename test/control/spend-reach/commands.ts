import { bodyOf } from '../../support/factories.ts'
import { Authenticator } from '../../support/identity/authenticator.ts'
import { redeem, signedInBy } from '../../support/identity/console.ts'
import { aDevice } from '../../support/identity/devices.ts'
import { approvePairing, aTerminal } from '../../support/identity/pairing.ts'
import { originOf, signed } from '../../support/identity/people.ts'
import { policySteps, RULES } from './account.ts'
import {
  type Answer,
  assistantOf,
  type Credential,
  callBy,
  type Input,
  inDays,
  keyCredential,
  tokenCredential,
} from './adversary.ts'
import { LARGE, SMALL, type Step } from './setting.ts'
import type { World } from './world.ts'

/** Draws the next member of lists, by the numbers of the sequence. */
export class Pick {
  readonly #numbers: readonly number[]
  #next = 0

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers
  }

  of<T>(list: readonly T[]): T | undefined {
    const number = this.#numbers[this.#next++ % this.#numbers.length] ?? 0
    return list[number % list.length]
  }

  some<T>(first: T, ...others: readonly T[]): T {
    return this.of([first, ...others]) ?? first
  }
}

interface Learnt {
  readonly world: World
  readonly credential: Credential
  readonly answer: Answer
  readonly input: Input
}

export interface Command {
  readonly weight?: number
  /** The credentials that may call it; by default people and keys. */
  readonly by?: readonly Credential['kind'][]
  /** Undefined: the adversary knows nothing to name. */
  readonly input: (world: World, pick: Pick) => Input | undefined | Promise<Input | undefined>
  /** What the adversary has by it from then on. */
  readonly learn?: (learnt: Learnt) => void | Promise<void>
  /** Repeats it so often. */
  readonly times?: (pick: Pick) => number
}

const ANYONE = ['console', 'key', 'token'] as const
const TOKENS = ['token', 'token', 'console', 'key'] as const

const byId = (list: readonly string[], pick: Pick, body?: object): Input | undefined => {
  const id = pick.of(list)
  return id === undefined ? undefined : { params: { id }, ...(body ? { body } : {}) }
}

const euros = (pick: Pick): number => pick.some(LARGE, SMALL)

const NOBODY = 'person_00000000000000000000000000'

/** The rules that a policy may get: without people, with fewer or others of them, and with more. */
function rulesOf({ account }: World, pick: Pick): object {
  const { steps } = account.setting
  const { members } = account
  const [first, last] = [steps[0], steps.at(-1)] as [Step, Step]
  const own = account.setting.adversary === 'owner' ? 'ada' : 'cem'
  const approval = policySteps(
    pick.some<readonly Step[]>(
      [],
      [last],
      [{ ...last, of: [own], need: 1 }],
      steps.map(step => ({ ...step, above: 1_000 })),
      steps.map(step => ({ ...step, need: 1 })),
      [{ ...first, of: 'approvers', need: 1 }],
      steps,
      steps,
    ),
    members,
  )
  const minutes = pick.some(60, 59)
  const stranger = pick.some<string | undefined>(undefined, undefined, undefined, NOBODY, members.gone.id)
  const named = ({ of }: { of: string | readonly string[] }) =>
    stranger && typeof of !== 'string' ? { of: [...of, stranger] } : {}
  return {
    ...RULES,
    autoApproveLimitEuros: pick.some(15, 1_000),
    expiresAfterMinutes: pick.some(null, null, null, 1),
    approval: approval.map(step => ({ ...step, withinMinutes: minutes, ...named(step) })),
  }
}

const cardLimits = (pick: Pick): object =>
  pick.some<object>({}, { maxTransactionEuros: SMALL }, { dailyLimitEuros: 1_000 })

const learnId =
  (list: keyof World['known']) =>
  ({ world, answer }: Learnt): void => {
    if (typeof answer.body?.id === 'string') world.known[list].push(answer.body.id)
  }

const learnChange = ({ world, answer: { status, body } }: Learnt): void => {
  if (status === 202) world.known.changes.push(body.id)
}

const learnKey = ({ world, answer: { body }, credential }: Learnt): void => {
  if (!body.key) return
  world.known.keys.push(body.id)
  world.gain(keyCredential(world.service, body.key, `a key made by ${credential.what}`), credential)
}

/** Opens a link, and enrols a passkey where the session may. */
async function enter(world: World, url: unknown): Promise<void> {
  if (typeof url !== 'string' || !url.includes('#')) return
  const answer = await redeem(world.service.url, url)
  if (answer.status !== 201) return
  const session = signedInBy(world.service.url, answer)
  const { client, headers } = session
  const device = new Authenticator({ origin: originOf(world.service) })
  const person = { id: session.personId, name: 'a person whom the adversary let in', device }
  const options = await client.passkeys.registerOptions({ body: {} })
  if (options.error === undefined) {
    const registration = device.register(options.body.options)
    const body = { challengeId: options.body.challengeId, name: 'Phone', registration }
    if ((await client.passkeys.registerVerify({ body })).error === undefined) world.persons.push(person)
  }
  world.gain({ what: person.name, kind: 'console', client, headers, person }, { isGuest: true })
}

const learnLink = async (learnt: Learnt): Promise<void> => {
  learnChange(learnt)
  const { joinUrl, url } = learnt.answer.body
  await enter(learnt.world, joinUrl ?? url)
}

const span = { from: new Date().toISOString(), until: inDays(7) }

const policies: Readonly<Record<string, Command>> = {
  'policies.create': {
    weight: 3,
    input: (world, pick) => ({ body: rulesOf(world, pick) }),
    learn: ({ world, answer }) => {
      world.known.policies.push(answer.body.id)
      world.known.templates.push(answer.body.id)
    },
  },
  'policies.replace': {
    weight: 8,
    input: (world, pick) => byId(world.known.policies, pick, rulesOf(world, pick)),
    times: pick => pick.some(1, 1, 1, 1, 1, 1, 1, 21),
    learn: learnChange,
  },
  'policies.apply': { input: ({ known }, pick) => byId(known.templates, pick, {}), learn: learnChange },
  'policies.assign': {
    weight: 2,
    input: ({ known }, pick) => ({
      params: { agentId: pick.of(known.agents) },
      body: { policyId: pick.of([...known.templates, 'standard']) },
    }),
    times: pick => pick.some(1, 1, 1, 1, 1, 1, 1, 21),
    learn: learnChange,
  },
  'policies.toggle': {
    input: ({ known }, pick) => ({
      params: { agentId: pick.of(known.agents) },
      body: {
        field: pick.some('requireAttestation', 'requireIntent', 'lockToFirstMerchant'),
        value: pick.some(true, false),
      },
    }),
    learn: learnChange,
  },
  'policies.delete': { input: ({ known }, pick) => byId(known.templates, pick) },
  'policies.setBudget': {
    input: (_, pick) => ({ body: pick.some<object>({}, { dailyLimitEuros: 10_000 }) }),
  },
  'changeRequests.approve': {
    input: ({ known, persons }, pick) => {
      const input = byId(known.changes, pick, {})
      const person = pick.of(persons)
      return input && person ? { ...input, body: { personId: person.id } } : input
    },
    learn: learnLink,
  },
  'changeRequests.reject': { input: ({ known }, pick) => byId(known.changes, pick, {}) },
}

const agents: Readonly<Record<string, Command>> = {
  'agents.create': {
    input: ({ known }, pick) => ({
      body: { name: 'Another agent', policyId: pick.of([...known.templates, null]) },
    }),
    learn: ({ world, answer: { body } }) => {
      world.known.agents.push(body.id)
      world.known.wallets.push(body.walletId)
    },
  },
  'agents.delete': { weight: 2, input: ({ known }, pick) => byId(known.agents, pick) },
  'agents.update': { input: ({ known }, pick) => byId(known.agents, pick, { name: 'Renamed' }) },
  'agents.freeze': { input: ({ known }, pick) => byId(known.agents, pick, {}) },
  'agents.unfreeze': { input: ({ known }, pick) => byId(known.agents, pick, {}) },
  'agents.fund': {
    input: ({ known }, pick) =>
      byId(known.agents, pick, { fromWalletId: pick.of(known.wallets), amountEuros: euros(pick) }),
  },
  'agentTokens.create': {
    input: ({ known }, pick) =>
      byId(known.agents, pick, {
        label: 'Own',
        scopes: ['payer', 'cards:reveal'],
        maxAmountEuros: pick.some(null, 12),
      }),
    learn: ({ world, credential, answer: { body } }) => {
      world.known.tokens.push(body.id)
      const maximum = body.maxAmountEuros
      world.gain(tokenCredential(world.service, body.token, { what: 'an own token', maximum }), credential)
    },
  },
  'delegations.create': {
    input: ({ known }, pick) => ({
      body: { agentId: pick.of(known.agents), maxAmountEuros: pick.some(12, 500), expiresInMinutes: 60 },
    }),
    async learn({ world, credential, answer }) {
      const { code, maxAmountEuros: maximum } = answer.body
      const { token } = await bodyOf(world.service.client().delegations.redeem({ body: { code } }))
      const members = { what: 'an own delegation', maximum }
      world.gain(tokenCredential(world.service, String(token), members), credential)
    },
  },
  'mandates.create': {
    async input({ known, credentials, persons }, pick) {
      const [person] = persons
      const console = credentials.find(({ kind }) => kind === 'console')
      if (!person || !console) return undefined
      const body = {
        agentId: pick.of(known.agents),
        name: 'Own',
        constraints: { totalEuros: 1_000 },
        expiresAt: inDays(7),
      }
      const challenge = await callBy(console, 'mandates.options', { body })
      return challenge.error === undefined
        ? { body: { ...body, webauthnAssertion: signed(challenge.body, person.device) } }
        : undefined
    },
    learn: learnId('mandates'),
  },
  'mandates.suspend': { input: ({ known }, pick) => byId(known.mandates, pick, {}) },
  'mandates.resume': { input: ({ known }, pick) => byId(known.mandates, pick, {}) },
  'risk.configure': {
    input: () => ({ body: { thresholds: { review: 60, deny: 80, freeze: 95 } } }),
  },
  'runs.create': {
    by: ANYONE,
    input: ({ known }, pick) => ({ body: { agentId: pick.of(known.agents), name: 'A run' } }),
  },
}

const money: Readonly<Record<string, Command>> = {
  'wallets.create': {
    weight: 2,
    input: () => ({ body: { name: 'Own purse' } }),
    learn: learnId('wallets'),
  },
  'wallets.update': {
    input: ({ known }, pick) => byId(known.wallets, pick, { status: pick.some('active', 'frozen') }),
  },
  'fund.wallet': { input: ({ known }, pick) => byId(known.wallets, pick, { amountEuros: 500 }) },
  'beneficiaries.create': {
    input: () => ({ body: { name: 'Close Adler GmbH', iban: 'NL91ABNA0417164300' } }),
    learn: learnId('beneficiaries'),
  },
  'beneficiaries.update': {
    input: ({ known }, pick) => byId(known.beneficiaries, pick, { iban: 'FR1420041010050500013M02606' }),
  },
  'transfers.create': {
    weight: 8,
    by: ANYONE,
    input: ({ known }, pick) => ({
      body: {
        fromWalletId: pick.of(known.wallets),
        amountEuros: euros(pick),
        ...(pick.some(true, false)
          ? { toWalletId: pick.of(known.wallets) }
          : { beneficiaryId: pick.of(known.beneficiaries) }),
        ...(pick.some(true, true, false) ? {} : { intentId: pick.of(known.intents) }),
      },
    }),
    learn: learnId('transfers'),
  },
  'transfers.split': {
    input: ({ known }, pick) => ({
      body: {
        fromWalletId: pick.of(known.wallets),
        parts: [{ walletId: pick.of(known.wallets), amountEuros: euros(pick) }],
      },
    }),
  },
  'sandbox.advance': { by: ['key'], input: () => ({ body: { minutes: 2 } }) },
  'transfers.confirmPayee': { input: ({ known }, pick) => byId(known.transfers, pick, {}) },
  'intents.create': {
    weight: 6,
    by: TOKENS,
    input: ({ known }, pick) => ({
      body: {
        agentId: pick.of(known.agents),
        amountEuros: euros(pick),
        purpose: 'A paper',
        ...(pick.some(true, false)
          ? { merchant: pick.some('Bookshop', 'Printer', 'Corner shop') }
          : { beneficiaryId: pick.of(known.beneficiaries) }),
      },
    }),
    learn: learnId('intents'),
  },
  'intents.approve': {
    weight: 8,
    input: (world, pick) => approvalOf(world, pick.of(world.known.intents.toReversed()), pick),
  },
  'intents.cancel': { by: TOKENS, input: ({ known }, pick) => byId(known.intents, pick, {}) },
  'intents.deny': { input: ({ known }, pick) => byId(known.intents, pick, {}) },
}

/** An approval with a signature of one of the adversary's people, or without one. */
export async function approvalOf(
  { persons, credentials }: World,
  id: string | undefined,
  pick: Pick,
): Promise<Input | undefined> {
  const person = pick.of(persons)
  const by = credentials.find(({ kind, person: one }) => (one ? one.id === person?.id : kind === 'key'))
  if (!id) return undefined
  if (!person || !by) return { params: { id }, body: {} }
  const body = { personId: person.id }
  const challenge = await callBy(by, 'intents.challenge', { params: { intentId: id }, body })
  return challenge.error === undefined
    ? { params: { id }, body: { webauthnAssertion: signed(challenge.body, person.device) } }
    : { params: { id }, body: {} }
}

const cards: Readonly<Record<string, Command>> = {
  'cards.create': {
    input: ({ known }, pick) => ({
      body: {
        agentId: pick.of(known.agents),
        usage: 'multi',
        displayName: 'Own',
        limits: cardLimits(pick),
        activate: pick.some(true, false),
      },
    }),
    learn: learnId('cards'),
  },
  'cards.setLimits': {
    weight: 2,
    input: ({ known }, pick) => byId(known.cards, pick, cardLimits(pick)),
  },
  'cardControls.set': { input: ({ known }, pick) => byId(known.cards, pick, {}) },
  'cards.activate': { input: ({ known }, pick) => byId(known.cards, pick, {}) },
  'cards.freeze': { input: ({ known }, pick) => byId(known.cards, pick, {}) },
  'cards.unfreeze': { input: ({ known }, pick) => byId(known.cards, pick, {}) },
  'cards.rotate': { input: ({ known }, pick) => byId(known.cards, pick, {}) },
  'cards.fund': {
    input: ({ known }, pick) =>
      byId(known.cards, pick, { fromWalletId: pick.of(known.wallets), amountEuros: euros(pick) }),
  },
  'cardRequests.create': {
    by: TOKENS,
    input: ({ known }, pick) => ({
      body: pick.some<object>(
        { type: 'new_card', agentId: pick.of(known.agents), usage: 'multi', reason: 'Papers' },
        {
          type: 'limit_change',
          agentId: pick.of(known.agents),
          cardId: pick.of(known.cards),
          limits: { maxTransactionEuros: 1_000 },
          reason: 'Papers',
        },
      ),
    }),
    learn: learnId('cardRequests'),
  },
  'cardRequests.approve': { input: ({ known }, pick) => byId(known.cardRequests, pick, {}) },
  'accessEvents.access': {
    weight: 4,
    by: TOKENS,
    input: ({ known, account }, pick) =>
      byId(known.cards, pick, {
        intentId: pick.of(known.intents.toReversed()),
        purpose: 'Pay',
        fillerKeyId: account.card?.fillerKeyId,
      }),
  },
  'credentials.create': {
    by: TOKENS,
    input: ({ known }, pick) => ({
      body: { intentId: pick.of(known.intents.toReversed()), cardId: pick.of(known.cards), ttlSeconds: 600 },
    }),
    learn: learnId('accessCredentials'),
  },
  'credentials.redeem': {
    by: TOKENS,
    input: ({ known, account }, pick) =>
      byId(known.accessCredentials, pick, { fillerKeyId: account.card?.fillerKeyId }),
  },
  'checkout.createSession': {
    by: TOKENS,
    input: ({ known }, pick) => ({
      body: {
        intentId: pick.of(known.intents.toReversed()),
        cardId: pick.of(known.cards),
        merchantUrl: 'https://shop.example.com/checkout',
      },
    }),
    async learn({ world, answer, credential }) {
      const { token } = answer.body
      const body = { token, fillerKeyId: world.account.card?.fillerKeyId }
      await world.act(credential, 'checkout.credential', { body })
    },
  },
  'agentCredentials.create': {
    by: TOKENS,
    input: ({ known, account }, pick) => ({
      body: {
        agentId: pick.of(known.agents),
        cardId: pick.of(known.cards),
        intentId: pick.some(pick.of(known.intents.toReversed()), undefined),
        merchantScope: ['Corner shop'],
        amountLimitEuros: 1_000,
        ttlSeconds: 3_600,
        fillerKeyId: account.card?.fillerKeyId,
      },
    }),
  },
}

const access: Readonly<Record<string, Command>> = {
  'people.create': {
    weight: 3,
    input: (_, pick) => ({
      body: { name: 'Grace', email: null, role: pick.some('approver', 'owner', 'viewer') },
    }),
    learn: learnLink,
  },
  'people.update': {
    weight: 3,
    input: ({ known }, pick) => byId(known.people, pick, { role: pick.some('owner', 'approver', 'viewer') }),
    learn: learnChange,
  },
  'people.remove': { weight: 2, input: ({ known }, pick) => byId(known.people, pick) },
  'people.link': { input: ({ known }, pick) => byId(known.people, pick, {}), learn: learnLink },
  'console.createLink': {
    weight: 2,
    input: ({ known }, pick) => ({ body: { personId: pick.of(known.people) } }),
    learn: learnLink,
  },
  'passkeys.registerOptions': {
    input: ({ known }, pick) => ({ body: { personId: pick.of(known.people) } }),
    async learn({ world, credential, answer: { body }, input }) {
      const { personId } = input.body as { personId: string }
      const device = new Authenticator({ origin: originOf(world.service) })
      const registration = device.register(body.options)
      const registered = { challengeId: body.challengeId, name: 'Own phone', registration }
      const answer = await world.act(credential, 'passkeys.registerVerify', { body: registered })
      if (answer.error === undefined)
        world.persons.push({ id: personId, name: 'a person with a passkey of the adversary', device })
    },
  },
  'deputies.create': {
    weight: 2,
    input: ({ known }, pick) => byId(known.people, pick, { deputyId: pick.of(known.people), ...span }),
    learn: learnChange,
  },
  'keys.create': {
    weight: 2,
    input: () => ({ body: { name: 'Own key', environment: 'sandbox' } }),
    learn: learnKey,
  },
  'keys.rotate': {
    weight: 2,
    async input({ known, credentials }, pick) {
      const by = credentials.find(({ kind }) => kind !== 'token')
      const keys = by && (await callBy(by, 'keys.list', {}))
      const ids: string[] = keys?.body?.data?.map(({ id }: { id: string }) => id) ?? []
      return byId([...ids, ...known.keys], pick, { overlapMinutes: 60 })
    },
    learn: learnKey,
  },
  'cliAuth.approve': {
    by: ['console'],
    input: () => ({}),
  },
  'sessions.verify': {
    by: ['console'],
    input: () => ({}),
  },
  'oauth.approve': {
    by: ['console'],
    input: () => ({}),
  },
}

/** A page of consent that is not shown, or choices that are refused: the person or the agent is no longer active. */
function refusedConnection(error: unknown): undefined {
  if (!/^(the page of consent|connecting|approving):/.test(String((error as Error).message))) throw error
}

/** Operations that a person carries out together with a device. */
export const ceremonies: Readonly<Record<string, (world: World, credential: Credential) => Promise<void>>> = {
  async 'cliAuth.approve'(world, by) {
    const { client, person } = by
    if (!person) return
    const anyone = world.service.client()
    const { code, codeVerifier } = await aTerminal(anyone)
    if ((await approvePairing(client, person.device, code)).error !== undefined) return
    const { key } = await bodyOf(anyone.cliAuth.token({ body: { code, codeVerifier } }))
    world.gain(keyCredential(world.service, String(key), `the terminal of ${person.name}`), by)
  },
  async 'sessions.verify'(world, by) {
    const { client, person } = by
    if (!person) return
    const anyone = world.service.client()
    const { deviceCode, userCode } = await aDevice(anyone)
    // The person may have been removed, and their session with them.
    const challenge = await client.sessions.challenge({ body: { userCode } })
    if (challenge.error !== undefined) return
    const webauthnAssertion = signed(challenge.body, person.device)
    if ((await client.sessions.verify({ body: { userCode, webauthnAssertion } })).error !== undefined) return
    const { key } = await bodyOf(anyone.sessions.token({ body: { deviceCode } }))
    world.gain(keyCredential(world.service, String(key), `the device of ${person.name}`), by)
  },
  async 'oauth.approve'(world, { headers, person }) {
    // Only owners connect assistants.
    if (person?.id !== world.account.members.ada.id) return
    const connected = assistantOf(world.account, world.service, { person, headers })
    const assistant = await connected.catch(refusedConnection)
    if (assistant) world.gain(assistant, {})
  },
}

export const commands: Readonly<Record<string, Command>> = {
  ...policies,
  ...agents,
  ...money,
  ...cards,
  ...access,
}

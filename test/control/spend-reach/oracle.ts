import { bodyOf } from '../../support/factories.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { signed } from '../../support/identity/people.ts'
import { type Account, approveAs, nameOf, policySteps } from './account.ts'
import { callBy } from './adversary.ts'
import { isAsked, LARGE, type Role, type Step, suffices } from './setting.ts'
import { type Act, linkedChallengeOf, type World } from './world.ts'

/**
 * What may not happen, by its meaning. The steps are those of the beginning: the adversary alone can loosen none of them, and
 * what tightens them asks for no less.
 */

type Rule<A = Act> = (world: World, act: A) => Promise<void> | void

const asksPeople = ({ setting: { steps } }: Account, euros: number): boolean =>
  steps.some(({ above }) => euros > above)

/** Money leaves the owner without an intent that people have approved. */
const paymentOutside: Rule = (world, { answer: { body } }) => {
  const { beneficiaryId, intentId, amountEuros } = body
  if (world.isLoosened) return
  if (beneficiaryId && !intentId && asksPeople(world.account, amountEuros))
    world.find('payment', `€ ${amountEuros} leaves without the people whom the policy asks`)
}

/** Its policy asks no one from the beginning, so what it pays needs no one. */
const isLoose = ({ looseAgent }: Account, agentId: string): boolean => agentId === looseAgent?.id

/** An intent is approved without the people whom the steps of the account asked at the beginning, also with a new agent. */
const intentApproved: Rule = (world, { name, credential, answer: { body } }) => {
  const { account, declared, persons } = world
  const { id, agentId, status, amountEuros } = body
  if (name === 'intents.create' && !credential.isGuest) declared.add(id)
  if (world.isLoosened) return
  if (status !== 'approved' || isLoose(account, agentId) || !asksPeople(account, amountEuros)) return
  const given = id === account.waiting.id ? account.waiting.given : []
  // Who asks for a payment is none of those who approve it. Guests approve nothing, but where the first person’s approval is all
  // that is needed, they may ask, as an agent may.
  const own = declared.has(id) ? [] : persons.slice(0, 1).map(person => person.name)
  if (!suffices(account.setting.steps, amountEuros, [...given, ...own]))
    world.find('approval', `an intent of € ${amountEuros} is approved by too few others`)
}

/** More is charged with card data than its holder may spend. */
const cardData: Rule = async (world, { credential: { maximum = null, kind }, name, input, answer }) => {
  if (kind !== 'token') return
  const { account } = world
  const named: { readonly cardId?: string } = { ...input.body, ...answer.body }
  const cardId = String(named.cardId ?? account.card?.id)
  const byToken = name === 'agentCredentials.create' ? { agentCredentialId: answer.body.id } : {}
  const charge = async (amountEuros: number): Promise<number> => {
    const shop = { merchant: 'Corner shop', mcc: '5942', country: 'DE' }
    const body = { cardId, amountEuros, ...shop, ...byToken }
    const { approvedEuros } = await bodyOf(account.client.sandbox.authorizeCard({ body }))
    return approvedEuros ?? 0
  }
  const large = await charge(LARGE)
  const { agentId } = await bodyOf(account.client.cards.get({ params: { id: cardId } }))
  if (!isLoose(account, agentId) && asksPeople(account, large))
    world.find('card', `a shop charges € ${large} without the people whom the policy asks`)
  if (maximum === null) return
  const charged = large + (await charge(maximum + 3)) + (await charge(maximum)) + (await charge(maximum))
  if (charged > maximum)
    world.find('card', `shops charge € ${charged} with the data that a credential for € ${maximum} got`)
}

interface NamedStep {
  readonly of: string | readonly string[]
}

/** A policy names people who are not of the account, or no longer. Steps from before a person left may stay as they are. */
const policyNames: Rule = async (world, { name, input }) => {
  const { approval = [] } = (input.body ?? {}) as { approval?: readonly NamedStep[] }
  const named = approval.flatMap(({ of }) => (typeof of === 'string' ? [] : of))
  if (named.length === 0) return
  const people = await bodyOf(world.account.client.people.list({ query: { limit: 100 } }))
  const present = people.data.filter(({ status }) => status !== 'removed').map(({ id }) => id)
  const { setting, members } = world.account
  const kept = policySteps(setting.steps, members).flatMap(({ of }) => (typeof of === 'string' ? [] : of))
  const strangers = named.filter(
    id => !(present.includes(id) || (name === 'policies.replace' && kept.includes(id))),
  )
  if (strangers.length > 0) world.find('names', `${name} takes a step that names ${strangers.join(' and ')}`)
}

/** Who is said to be asked can approve now. */
const awaitedPeople: Rule = async (world, { name }) => {
  const { client, waiting } = world.account
  const [intent, changes, people] = await Promise.all([
    bodyOf(client.intents.get({ params: { id: waiting.id } })),
    bodyOf(client.changeRequests.list({ query: { status: 'waiting', limit: 5 } })),
    bodyOf(client.people.list({ query: { status: 'active', limit: 100 } })),
  ])
  const able = people.data.filter(({ role }) => role !== 'viewer')
  const isAble = (one: string): boolean => {
    if (one === 'owners') return able.some(({ role }) => role === 'owner')
    return one === 'approvers' ? able.length > 0 : able.some(({ id }) => id === one)
  }
  const awaited = [intent, ...changes.data].flatMap(({ approval }) => approval?.awaits ?? [])
  const gone = [...new Set(awaited)].filter(one => !isAble(one))
  const names = gone.map(one => nameOf(world.account, one) ?? one)
  if (gone.length > 0) world.find('awaits', `after ${name}, ${inWords(names)} is awaited, who cannot approve`)
}

const AMOUNTS = [21, 51, LARGE]

const groupsOf = <T>([first, ...others]: readonly T[]): T[][] => {
  if (first === undefined) return [[]]
  const without = groupsOf(others)
  return [...without, ...without.map(group => [first, ...group])]
}

/** The steps and people of now, by the names of the people. */
async function present({ account }: World) {
  const { client, agentId } = account
  const [policy, people] = await Promise.all([
    client.policies.effective({ params: { agentId } }),
    bodyOf(client.people.list({ query: { status: 'active', limit: 100 } })),
  ])
  const named = (id: string): string => nameOf(account, id) ?? id
  // A deleted agent spends nothing. What its end frees shows when someone pays.
  if (policy.error !== undefined) return undefined
  const { approval = [] } = policy.body
  const steps = approval.map(
    ({ aboveEuros, of, need }): Step => ({
      above: aboveEuros,
      of: typeof of === 'string' ? of : of.map(named),
      need,
    }),
  )
  const now: Record<string, Role> = Object.fromEntries(people.data.map(({ id, role }) => [named(id), role]))
  return { steps, people: now }
}

const inWords = (group: readonly string[]): string => (group.length === 0 ? 'no one' : group.join(' and '))

/** People suffice who did not at the beginning, and none of the others has agreed to that. */
const stepsLoosened: Rule<Pick<Act, 'name'>> = async (world, { name }) => {
  if (world.isLoosened) return
  const { steps } = world.account.setting
  const now = await present(world)
  if (!now) return
  const able = Object.keys(now.people).filter(one => now.people[one] !== 'viewer')
  for (const group of groupsOf(able))
    for (const amount of AMOUNTS) {
      if (!suffices(now.steps, amount, group, now.people) || suffices(steps, amount, group)) continue
      const own = world.persons.slice(0, 1).map(person => person.name)
      world.isLoosened = true
      // A person whose own approval is all that the steps ask may change them, as documented.
      if (suffices(steps, LARGE, own)) return
      return world.find('steps', `after ${name}, ${inWords(group)} can approve € ${amount}`)
    }
}

const rules: Readonly<Record<string, readonly Rule[]>> = {
  'transfers.create': [paymentOutside],
  'intents.create': [intentApproved],
  'intents.approve': [intentApproved],
  'accessEvents.access': [cardData],
  'credentials.redeem': [cardData],
  'checkout.credential': [cardData],
  'agentCredentials.create': [cardData],
  'policies.create': [policyNames],
  'policies.replace': [policyNames, stepsLoosened, awaitedPeople],
  'policies.apply': [stepsLoosened],
  'policies.assign': [stepsLoosened],
  'policies.toggle': [stepsLoosened],
  'changeRequests.approve': [stepsLoosened],
  'sandbox.advance': [stepsLoosened],
  'people.create': [stepsLoosened],
  'people.remove': [stepsLoosened, awaitedPeople],
  'people.update': [stepsLoosened, awaitedPeople],
}

export async function judge(world: World, act: Act): Promise<void> {
  for (const rule of rules[act.name] ?? []) await rule(world, act)
}

/** Judges the steps at the end too, since a person joins only by opening a link. */
export const judgeSteps = (world: World): Promise<void> | void => stepsLoosened(world, { name: 'all' })

/** Another person can still propose a change, however many the adversary has proposed. */
export async function judgeRoom(world: World): Promise<void> {
  const { account, service } = world
  if (account.setting.adversary === 'owner' && !world.done.has('policies.replace')) return
  const name = account.setting.adversary === 'owner' ? 'bob' : 'ada'
  const person = account.members[name]
  const { status, role } = await bodyOf(account.client.people.get({ params: { id: person.id } }))
  if (status !== 'active' || role !== 'owner') return
  const { client } = await signedInTo(service, account, { personId: person.id })
  const input = { params: { id: account.policyId }, body: { name: 'Of another person', approval: [] } }
  const asked = await callBy({ client }, 'policies.replace', input)
  const challenge = await linkedChallengeOf({ client }, asked)
  if (!challenge) return
  const webauthnAssertion = signed(challenge, person.device)
  const body = { ...input.body, webauthnAssertion }
  const answer = await callBy({ client }, 'policies.replace', { ...input, body })
  if (answer.code === 'too_many_changes')
    world.find('room', `${name} can propose no change, as too many wait`)
}

/** What others have approved, and the present steps still accept, stays after a change of the steps. */
export async function judgeKept(world: World): Promise<void> {
  const { account } = world
  const { client, waiting, members } = account
  const [giver] = waiting.given
  if (!giver || !isKeptJudged(world)) return
  const now = await present(world)
  if (!now) return
  const { steps, people } = now
  const first = steps.find(({ above }) => LARGE > above)
  if (!first || !isAsked(first, giver, people)) return
  for (const name of ['ada', 'bob', 'cem'] as const)
    if (name !== giver) await approveAs(client, members[name], waiting.id)
  const intent = await bodyOf(client.intents.get({ params: { id: waiting.id } }))
  const given = intent.approval?.approvals.map(({ personId }) => personId) ?? []
  if (intent.status === 'created' && !given.includes(members[giver].id))
    world.find('kept', `the approval of ${giver} is dropped, although the steps still accept it`)
}

export const isKeptJudged = ({ account, done }: World): boolean =>
  account.waiting.given.length > 0 && done.has('policies.replace') && !dropping.some(one => done.has(one))

/** These may drop what was approved: it is no longer what people have seen. */
const dropping = ['agents.freeze', 'agents.update', 'beneficiaries.update', 'risk.configure']

import type { Slots } from '../interpreter/meaning.ts'
import { say } from '../lines.ts'
import { type Answerer, euros, listed, minute, type Page } from '../speaker.ts'

const whose = ({ agent }: Slots) => (agent ? { agentId: agent.id } : {})
const within = ({ period }: Slots) =>
  period ? { from: period.from.toISOString(), to: period.to.toISOString() } : {}

/** The members of a record that are read aloud as they are. */
type Texts = Readonly<Record<string, string | null>>

interface Explanation {
  readonly summary: string
  readonly rules: readonly { readonly outcome: string; readonly remedy: string | null }[]
}

interface Proposed {
  readonly id: string
  readonly summary: string
}

interface Policy {
  readonly maxTransactionEuros: number | null
  readonly dailyLimitEuros: number | null
  readonly monthlyLimitEuros: number | null
  readonly autoApproveLimitEuros: number | null
  readonly merchantAllowlist: readonly string[]
}

interface Agent {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly frozenReason: string | null
}

interface Dispute {
  readonly id: string
  readonly reason: string
  readonly status: string
  readonly amountEuros: number
}

interface Happened {
  readonly event: string
  readonly createdAt: string
}

interface Intent {
  readonly id: string
  readonly amountEuros: number
  readonly merchant: string | null
  readonly status: string
  readonly purpose: string
  readonly createdAt: string
}

const inWords = ({ id, amountEuros, merchant, purpose }: Intent): string =>
  `${euros(amountEuros)} to ${merchant ?? 'a payee'}: ${purpose.slice(0, 100)} (${id})`

/** A list of records, each in a line. */
const list = <T = Texts>(
  operation: string,
  given: (slots: Slots) => object,
  words: { readonly none: string; readonly some: string },
  line: (record: T) => string,
): Answerer =>
  async function* (slots, speaker) {
    const page = yield* speaker.ask<Page<T>>(operation, { ...given(slots), limit: 20 })
    if (page) yield listed(page.data.map(line), words, page.hasMore)
  }

const explain: Answerer = async function* ({ intentId }, speaker) {
  const explanation = yield* speaker.ask<Explanation>('intents.explanation', { id: intentId })
  if (!explanation) return
  const { rules } = explanation
  const remedies = rules.flatMap(({ outcome, remedy }) => (outcome === 'passed' || !remedy ? [] : [remedy]))
  yield say(explanation.summary)
  if (remedies.length > 0) yield listed(remedies, { none: '', some: 'What would make it a yes:' })
}

/** What is asked about what is there, and what waits. */
export const aboutRecords: Readonly<Record<string, Answerer>> = {
  async *waiting(_, speaker) {
    const intents = yield* speaker.ask<Page<Intent>>('intents.list', { status: 'created', limit: 20 })
    const payments = intents?.data.map(inWords) ?? []
    if (payments.length > 0)
      yield listed(payments, { none: '', some: 'These payments wait:' }, intents?.hasMore)
    const proposals = yield* speaker.ask<Page<Proposed>>('proposals.list', { status: 'open', limit: 20 })
    const wishes = proposals?.data.map(({ id, summary }) => `${summary} (${id})`) ?? []
    if (wishes.length > 0) yield listed(wishes, { none: '', some: 'These are proposed:' }, proposals?.hasMore)
    const place = speaker.pageOf('/console/approvals')
    if (payments.length + wishes.length > 0) yield say(`They are decided at ${place}.`)
    else if (intents && proposals) yield say('Nothing waits for you.')
  },

  whyIntent: explain,

  async *whyLast(slots, speaker) {
    const page = yield* speaker.ask<Page<Intent>>('intents.list', {
      ...whose(slots),
      status: 'denied',
      limit: 1,
    })
    if (!page) return
    const [last] = page.data
    if (!last) return yield say(`Nothing${slots.agent ? ` of ${slots.agent.name}` : ''} was refused.`)
    yield say(`${inWords(last)}, ${minute(last.createdAt)}.`)
    yield* explain({ intentId: last.id }, speaker)
  },

  refusals: list(
    'intents.list',
    slots => ({ ...whose(slots), ...within(slots), status: 'denied' }),
    { none: 'Nothing was refused.', some: 'These were refused:' },
    inWords,
  ),

  intents: list(
    'intents.list',
    slots => ({ ...whose(slots), ...within(slots) }),
    { none: 'There are no intents.', some: 'The newest intents:' },
    (intent: Intent) => `${inWords(intent)}, ${intent.status}`,
  ),

  async *policy({ agent }, speaker) {
    if (!agent) return
    const policy = yield* speaker.ask<Policy>('policies.effective', { agentId: agent.id })
    if (!policy) return
    const limits: (readonly [string, number | null])[] = [
      ['one payment at most', policy.maxTransactionEuros],
      ['a day at most', policy.dailyLimitEuros],
      ['a month at most', policy.monthlyLimitEuros],
      ['without a person up to', policy.autoApproveLimitEuros],
    ]
    const merchants = policy.merchantAllowlist
    const lines = limits.flatMap(([name, amount]) => (amount === null ? [] : [`${name} ${euros(amount)}`]))
    const where = merchants.length > 0 ? [`only at ${merchants.slice(0, 10).join(', ')}`] : []
    yield listed([...lines, ...where], {
      none: `${agent.name} has no limits.`,
      some: `${agent.name} may spend:`,
    })
  },

  async *agent({ agent }, speaker) {
    if (!agent) return
    const record = yield* speaker.ask<Agent>('agents.get', { id: agent.id })
    if (!record) return
    const why = record.frozenReason ? `: ${record.frozenReason}` : ''
    yield say(`${record.name} is ${record.status}${why} (${record.id}).`)
  },

  agents: list(
    'agents.list',
    () => ({}),
    { none: 'You have no agents yet.', some: 'Your agents:' },
    ({ name, status }) => `${name}, ${status}`,
  ),
  frozen: list(
    'agents.list',
    () => ({ status: 'frozen' }),
    { none: 'No agent is frozen.', some: 'These are frozen:' },
    ({ name, frozenReason }: Agent) => (frozenReason ? `${name}: ${frozenReason}` : name),
  ),
  cards: list(
    'cards.list',
    whose,
    { none: 'There are no cards.', some: 'The cards:' },
    ({ displayName, last4, status }) => `${displayName}, ending in ${last4}, ${status}`,
  ),
  disputes: list(
    'disputes.list',
    () => ({}),
    { none: 'There are no disputes.', some: 'The disputes:' },
    ({ id, reason, status, amountEuros }: Dispute) => `${euros(amountEuros)}, ${reason}, ${status} (${id})`,
  ),
  mandates: list(
    'mandates.list',
    whose,
    { none: 'There are no mandates.', some: 'The mandates:' },
    ({ name, id, status }) => `${name ?? id}, ${status}`,
  ),
  proposals: list(
    'proposals.list',
    slots => ({ ...whose(slots), status: 'open' }),
    { none: 'Nothing is proposed.', some: 'These are proposed:' },
    ({ summary, id }) => `${summary} (${id})`,
  ),
  runs: list(
    'runs.list',
    whose,
    { none: 'There are no runs.', some: 'The newest runs:' },
    ({ name, id, status }) => `${name ?? id}, ${status}`,
  ),
  keys: list(
    'keys.list',
    () => ({}),
    { none: 'There are no keys.', some: 'The keys:' },
    ({ name, environment }) => `${name}, ${environment}`,
  ),
  events: list(
    'events.list',
    slots => ({ ...whose(slots), ...within(slots) }),
    { none: 'Nothing has happened.', some: 'What has happened, the newest first:' },
    ({ event, createdAt }: Happened) => `${event}, ${minute(createdAt)}`,
  ),
}
